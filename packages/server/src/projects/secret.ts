import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomId } from '../platform/ids.ts'

/** What every generated secret begins with, so that secret scanners find it (AU-1). */
export const SECRET_PREFIX = 'mr_'

/** 172 random bits (AU-1 asks for 160). */
const RANDOM_LENGTH = 30
const CHECKSUM_LENGTH = 7

/** Generated secrets, for the rules of secret scanners. The last seven digits are the checksum of what is before them. */
export const SECRET_PATTERN = new RegExp(
  `^${SECRET_PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH}}[0-9a-z]{${CHECKSUM_LENGTH}}$`,
)

/** Makes a secret: `mr_`, 30 random characters, 7 of checksum. `random` must be unpredictable. */
export function createSecret(random: (length: number) => string = randomId): string {
  const body = SECRET_PREFIX + random(RANDOM_LENGTH)
  return body + checksum(body)
}

/** Whether a secret that looks generated was copied wrongly. It then cannot be any key, and nobody need be asked. */
export function isMistyped(secret: string): boolean {
  if (!secret.startsWith(SECRET_PREFIX)) return false
  return (
    !SECRET_PATTERN.test(secret) ||
    checksum(secret.slice(0, -CHECKSUM_LENGTH)) !== secret.slice(-CHECKSUM_LENGTH)
  )
}

/** What is stored of a secret. It has 160 random bits or more, so a fast hash suffices: there is nothing to guess. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

function checksum(text: string): string {
  return crc32(text).toString(36).padStart(CHECKSUM_LENGTH, '0')
}
