import { describe, expect, it } from 'vitest'
import { createWebhookSecret, signatureHeaders } from './signature.ts'

describe('the signature of a webhook', () => {
  it('is that of the Standard Webhooks example (DL-1)', () => {
    const headers = signatureHeaders(
      {
        webhookId: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
        timestampSeconds: 1614265330,
        body: Buffer.from('{"test": 2432232314}'),
      },
      ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    )
    expect(headers).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
  })

  it('has one part for each secret while secrets overlap (DL-1)', () => {
    const secrets = [createWebhookSecret(), createWebhookSecret()]
    const headers = signatureHeaders(
      { webhookId: 'msg_1', timestampSeconds: 1, body: Buffer.from('[]') },
      secrets,
    )
    expect(headers['webhook-signature']?.split(' ')).toHaveLength(2)
  })

  it('is of its own secret again after more secrets have signed than are remembered (DL-1)', () => {
    const content = { webhookId: 'msg_1', timestampSeconds: 1, body: Buffer.from('[]') }
    const sign = (secret: string) => signatureHeaders(content, [secret])['webhook-signature']
    const [one, other] = [createWebhookSecret(), createWebhookSecret()]
    const signatures = [sign(one), sign(other)]
    expect(new Set(signatures).size).toBe(2)
    for (let count = 0; count < 5000; count += 1) sign(createWebhookSecret())
    expect([sign(one), sign(other)]).toEqual(signatures)
  })
})
