import { webcrypto } from 'node:crypto'
import { verifyWebhook, WebhookVerificationError } from '@millrace/sdk'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { createWebhookSecret, signatureHeaders } from '../../src/webhooks/signature.ts'

const NOW_SECONDS = 1_800_000_000
const now = () => NOW_SECONDS * 1000

/** Standard Webhooks once more, from its specification and with another library: shares no line with ours. */
async function signIndependently(
  secret: string,
  id: string,
  timestamp: number,
  body: string,
): Promise<string> {
  const raw = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (character) => character.charCodeAt(0))
  const key = await webcrypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const content = new TextEncoder().encode([id, timestamp, body].join('.'))
  const signature = new Uint8Array(await webcrypto.subtle.sign('HMAC', key, content))
  return `v1,${btoa(String.fromCharCode(...signature))}`
}

const RECORDED_SECRET = 'whsec_bWlsbHJhY2UgdGVzdCB2ZWN0b3Igc2VjcmV0IDAxMjM='
/** Made by version 1.1.1 of the package `standardwebhooks`: id, body, signature. */
const RECORDED: readonly (readonly [string, string, string])[] = [
  ['msg_1', '[]', 'v1,EKjfgmYh5iZKmwNPb1/4GS9DBNomV9OtkI1u/VB0grY='],
  [
    'msg_2',
    '[{"event_id":9007199254740991,"data":{"b":1.10,"a":"\\u0000☕ 😀","n":115792089237316195423570985008687907853269984665640564039457584007913129639935}}]',
    'v1,wL7C5hpS0Yk/AzyhN61y3Dh+N6qrX0jkMfOyl6F7a58=',
  ],
]

const messages = fc.array(fc.record({ event_id: fc.nat(), data: fc.jsonValue() }), { maxLength: 5 })

describe('signatures of webhooks', () => {
  it('are those of an independent implementation, for every body (DL-1)', async () => {
    await fc.assert(
      fc.asyncProperty(messages, async (content) => {
        const secret = createWebhookSecret()
        const body = JSON.stringify(content)
        const signed = { webhookId: 'msg_1', timestampSeconds: NOW_SECONDS, body: Buffer.from(body) }
        expect(signatureHeaders(signed, [secret])['webhook-signature']).toBe(
          await signIndependently(secret, 'msg_1', NOW_SECONDS, body),
        )
      }),
    )
  })

  it('are taken by the public package, and the SDK takes what that signs (DL-1)', () => {
    fc.assert(
      fc.property(messages, (content) => {
        const secret = createWebhookSecret()
        const theirs = new Webhook(secret)
        const body = JSON.stringify(content)
        const signedAt = new Date()
        const timestampSeconds = Math.floor(signedAt.getTime() / 1000)
        const signed = { webhookId: 'msg_1', timestampSeconds, body: Buffer.from(body) }
        const headers = signatureHeaders(signed, [createWebhookSecret(), secret])
        expect(theirs.verify(body, headers)).toEqual(JSON.parse(body))
        const signature = theirs.sign('msg_1', signedAt, body)
        expect(verifyWebhook({ ...headers, 'webhook-signature': signature }, body, secret)).toHaveLength(
          content.length,
        )
      }),
    )
  })

  it.each(RECORDED)(
    'of %s are those that the package of Standard Webhooks makes (DL-1)',
    (id, body, expected) => {
      const signed = { webhookId: id, timestampSeconds: NOW_SECONDS, body: Buffer.from(body) }
      expect(signatureHeaders(signed, [RECORDED_SECRET])['webhook-signature']).toBe(expected)
    },
  )

  it('are verified by the SDK when another implementation made them, and by either secret while they overlap (DL-1)', async () => {
    const [before, after] = [createWebhookSecret(), createWebhookSecret()]
    const body = '[{"event_id":1,"data":{"b":1.10,"a":"\\u0000☕"}}]'
    const both = [
      await signIndependently(after, 'msg_1', NOW_SECONDS, body),
      await signIndependently(before, 'msg_1', NOW_SECONDS, body),
    ].join(' ')
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(NOW_SECONDS),
      'webhook-signature': both,
    }
    for (const secret of [before, after, [before, after]]) {
      expect(verifyWebhook(headers, Buffer.from(body), secret, { now })).toHaveLength(1)
    }
    expect(() => verifyWebhook(headers, body, createWebhookSecret(), { now })).toThrow(
      WebhookVerificationError,
    )
  })

  it('do not survive any change of id, time or body, nor five minutes (DL-1)', () => {
    const secret = createWebhookSecret()
    const body = Buffer.from('[{"event_id":1}]')
    const signed = { webhookId: 'msg_1', timestampSeconds: NOW_SECONDS, body }
    const headers = signatureHeaders(signed, [secret])
    expect(verifyWebhook(headers, body, secret, { now })).toHaveLength(1)
    const changed: readonly (readonly [Record<string, string>, Buffer])[] = [
      [{ ...headers, 'webhook-id': 'msg_2' }, body],
      [{ ...headers, 'webhook-timestamp': String(NOW_SECONDS + 1) }, body],
      [{ ...headers, 'webhook-signature': 'v1,AAAA' }, body],
      [{ ...headers, 'webhook-signature': headers['webhook-signature']?.replace('v1,', 'v2,') ?? '' }, body],
      [headers, Buffer.from('[{"event_id":2}]')],
    ]
    for (const [others, otherBody] of changed) {
      expect(() => verifyWebhook(others, otherBody, secret, { now })).toThrow(WebhookVerificationError)
    }
    const later = () => (NOW_SECONDS + 301) * 1000
    expect(() => verifyWebhook(headers, body, secret, { now: later })).toThrow(/too far from now/)
  })
})
