import { createHmac, randomBytes } from 'node:crypto'
import { SECRET_PREFIX, signingKeyOf } from './signing-key.ts'

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
    const mac = createHmac('sha256', signingKeyOf(secret))
      .update(`${webhookId}.${timestampSeconds}.`)
      .update(body)
    return `v1,${mac.digest('base64')}`
  })
  return {
    'webhook-id': webhookId,
    'webhook-timestamp': String(timestampSeconds),
    ...(signatures.length > 0 ? { 'webhook-signature': signatures.join(' ') } : {}),
  }
}
