import { randomBytes } from 'node:crypto'

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz'

const POOL_BYTES = 4096
/** Random bytes that are used once each: asking for many at a time takes a hundredth of asking for each id. */
let pool = Buffer.alloc(0)
let used = 0

/** A random identifier of `length` characters from an alphabet without look-alikes; 5.7 bits each. */
export function randomId(length = 22): string {
  let id = ''
  while (id.length < length) {
    const byte = randomByte()
    // Bytes past the last whole multiple of the alphabet would favour its first letters.
    if (byte < 256 - (256 % ALPHABET.length)) id += ALPHABET[byte % ALPHABET.length]
  }
  return id
}

function randomByte(): number {
  if (used === pool.length) {
    pool = randomBytes(POOL_BYTES)
    used = 0
  }
  return pool[used++] ?? 0
}
