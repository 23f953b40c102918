import { hash } from 'node:crypto'

/** 256 bits. */
const DIGITS = 64
const PREFIX = 'blake2b:'

/** What tells the content of a batch: the name of the hash, and its digits. BLAKE2 takes half the time of SHA-256 where the processor has no instructions for that one. */
export function contentHash(body: Uint8Array): string {
  return PREFIX + hash('blake2b512', body).slice(0, DIGITS)
}

/** Was a batch with this hash stored of the same bytes? Hashes without a name are of earlier versions, which took the one or the other. */
export function isHashOf(stored: string, body: Uint8Array): boolean {
  const own = contentHash(body)
  if (stored === own) return true
  return !stored.includes(':') && (PREFIX + stored === own || stored === hash('sha256', body))
}
