import { createHmac, timingSafeEqual } from 'node:crypto'

/** A message of a webhook call (interface 2.6). A repeated `event_id` replaces the message that came before. */
export interface WebhookMessage<Data = unknown> {
  readonly export_name: string
  readonly event_id: number
  readonly timestamp_micros: number
  readonly version: number
  readonly data: Data
  /** True when a reorganisation removed the event; `data` is null then. Only for channels that ask for it (DL-13). */
  readonly retracted?: true
}

/** Tolerance for the age of a call, and the clock it is judged by. */
export interface VerifyOptions {
  /** Refuses calls whose timestamp is further away than this; default 300. */
  readonly toleranceSeconds?: number
  /** Milliseconds since 1970; default the machine's clock. */
  readonly now?: () => number
}

/** The call is not from the service, was changed, or is too old. Answer it with status 401. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError'
}

type HeaderSource = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Checks the Standard Webhooks signature of a call (DL-1) and returns its messages. `body` is the body as received,
 * not parsed and printed again. `secret` is the channel's `whsec_…`; several while it rotates.
 * Throws `WebhookVerificationError`, and a `TypeError` when it is given an object that a framework has parsed.
 */
export function verifyWebhook<Data = unknown>(
  headers: HeaderSource,
  body: string | Uint8Array,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): readonly WebhookMessage<Data>[] {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new TypeError('body must be the bytes as they came; with Express use express.raw, not express.json')
  }
  const id = header(headers, 'webhook-id')
  const timestamp = header(headers, 'webhook-timestamp')
  const presented = header(headers, 'webhook-signature').split(' ')

  const timestampSeconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN
  const nowSeconds = (options.now ?? Date.now)() / 1000
  // Negated so that a timestamp that is no number is refused.
  if (!(Math.abs(nowSeconds - timestampSeconds) <= (options.toleranceSeconds ?? 300))) {
    throw new WebhookVerificationError(`webhook-timestamp "${timestamp}" is too far from now`)
  }

  const secrets = typeof secret === 'string' ? [secret] : secret
  const isGenuine = secrets.some((one) => {
    const expected = createHmac('sha256', keyOf(one)).update(`${id}.${timestamp}.`).update(body).digest()
    return presented.some((signature) => {
      if (!signature.startsWith('v1,')) return false
      const given = Buffer.from(signature.slice('v1,'.length), 'base64')
      return given.length === expected.length && timingSafeEqual(given, expected)
    })
  })
  if (!isGenuine) throw new WebhookVerificationError('no signature in webhook-signature matches')

  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  return JSON.parse(text) as readonly WebhookMessage<Data>[]
}

function header(headers: HeaderSource, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  const text = Array.isArray(value) ? value[0] : value
  if (typeof text !== 'string' || text === '') {
    throw new WebhookVerificationError(`header ${name} is missing`)
  }
  return text
}

function keyOf(secret: string): Uint8Array {
  const text = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret
  const key = Buffer.from(text, 'base64')
  if (key.length === 0) throw new TypeError('secret must be whsec_ and base64')
  return key
}
