import { describe, expect, it } from 'vitest'
import { verifyWebhook, WebhookVerificationError } from '../src/index.ts'

// Computed with openssl: printf '%s' 'msg_1.1700000000.[{"event_id":1}]' | openssl dgst -sha256 -mac hmac -macopt hexkey:<key> -binary | base64
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const body = '[{"event_id":1}]'
const signature = 'v1,44wScpCUFsle6INxzbAa2Wz3a/l/gEreH1Nvv9ffldU='
const headers = {
  'webhook-id': 'msg_1',
  'webhook-timestamp': '1700000000',
  'webhook-signature': signature,
}
const now = () => 1_700_000_100_000
const verify = (changed: Record<string, string | undefined>, text = body, key: string | string[] = secret) =>
  verifyWebhook({ ...headers, ...changed }, text, key, { now })

describe('verifyWebhook', () => {
  it('agrees with the vector that Standard Webhooks libraries publish (DL-1)', () => {
    const published = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    }
    const options = { now: () => 1_614_265_330_000 }
    expect(verifyWebhook(published, '{"test": 2432232314}', secret, options)).toEqual({ test: 2432232314 })
  })

  it('returns the messages of a genuine call (DL-1)', () => {
    expect(verify({})).toEqual([{ event_id: 1 }])
    expect(verifyWebhook(new Headers(headers), Buffer.from(body), secret, { now })).toEqual([{ event_id: 1 }])
  })

  it('accepts any of several signatures and any of several secrets while one rotates (DL-1)', () => {
    expect(verify({ 'webhook-signature': `v1,AAAA v1a,zzzz ${signature}` })).toEqual([{ event_id: 1 }])
    expect(verify({}, body, ['whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', secret])).toEqual([{ event_id: 1 }])
  })

  it.each([
    ['a changed body', {}, '[{"event_id":2}]', secret],
    ['a changed id', { 'webhook-id': 'msg_2' }, body, secret],
    ['a changed timestamp', { 'webhook-timestamp': '1700000001' }, body, secret],
    ['another secret', {}, body, 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    ['an unknown scheme', { 'webhook-signature': signature.replace('v1,', 'v2,') }, body, secret],
    ['a cut signature', { 'webhook-signature': signature.slice(0, -8) }, body, secret],
    ['a missing header', { 'webhook-id': undefined }, body, secret],
    ['a timestamp that is no number', { 'webhook-timestamp': 'now' }, body, secret],
  ])('refuses %s (DL-1)', (_name, changed, text, key) => {
    expect(() => verify(changed, text, key)).toThrow(WebhookVerificationError)
  })

  it('refuses a call that is too old or from the future, however genuine (DL-1)', () => {
    for (const seconds of [1_700_000_301, 1_699_999_699]) {
      expect(() => verifyWebhook(headers, body, secret, { now: () => seconds * 1000 })).toThrow(
        /too far from now/,
      )
    }
  })

  it('says what is wrong when it is given a body that was parsed already', () => {
    expect(() => verifyWebhook(headers, [{ event_id: 1 }] as never, secret, { now })).toThrow(/express\.raw/)
  })
})
