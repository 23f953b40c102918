import { createHmac, randomBytes } from 'node:crypto'

/** Standard Webhooks: a secret is `whsec_` and base64 of 24 to 64 bytes. */
const SECRET_PREFIX = 'whsec_'

/** A new signing secret of 32 random bytes. */
export function createWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(32).toString('base64')
}

/** What a signature covers. */
export interface SignedContent {
  readonly webhookId: string
  readonly timestampSeconds: number
  readonly body: Uint8Array
}

/**
 * The headers of Standard Webhooks (DL-1). While a secret is rotated there is a signature for each, so that receivers
 * may change over at any moment.
 */
export function signatureHeaders(
  { webhookId, timestampSeconds, body }: SignedContent,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    const mac = createHmac('sha256', key).update(`${webhookId}.${timestampSeconds}.`).update(body)
    return `v1,${mac.digest('base64')}`
  })
  return {
    'webhook-id': webhookId,
    'webhook-timestamp': String(timestampSeconds),
    ...(signatures.length > 0 ? { 'webhook-signature': signatures.join(' ') } : {}),
  }
}
