import { createSecretKey, type KeyObject } from 'node:crypto'

/** Standard Webhooks: a secret is `whsec_` and base64 of 24 to 64 bytes. */
export const SECRET_PREFIX = 'whsec_'

/** Keys that are remembered; beyond that the one that was used least recently is made again when it is needed. */
const KEYS_MAX = 4096

const keys = new Map<string, KeyObject>()

/** The key of a secret, made once: to make it costs several times what signing a small body with it does. */
export function signingKeyOf(secret: string): KeyObject {
  const key = keys.get(secret) ?? createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'))
  keys.delete(secret)
  keys.set(secret, key)
  const [oldest] = keys.size > KEYS_MAX ? keys.keys() : []
  if (oldest !== undefined) keys.delete(oldest)
  return key
}
