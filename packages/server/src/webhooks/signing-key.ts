import { createSecretKey, type KeyObject } from 'node:crypto'
import { createRecentValues } from '../platform/recent-values.ts'

/** Standard Webhooks: a secret is `whsec_` and base64 of 24 to 64 bytes. */
export const SECRET_PREFIX = 'whsec_'

/** Keys that are remembered; beyond that the one that was used least recently is made again when it is needed. */
const KEYS_MAX = 4096

const keys = createRecentValues<KeyObject>(KEYS_MAX)

/** The key of a secret, made once: to make it costs several times what signing a small body with it does. */
export function signingKeyOf(secret: string): KeyObject {
  const known = keys.get(secret)
  if (known) return known
  const key = createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'))
  keys.put(secret, key, 1)
  return key
}
