import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'

/** The header without which a session cookie counts for nothing: no form and no foreign page can send it. */
export const SESSION_HEADER = 'x-millrace-session'

const COOKIE = 'millrace_session'
const LIFETIME_MS = 7 * 86_400_000
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Of the instant at which a session ends, big-endian milliseconds. */
const INSTANT_BYTES = 8

/** Sessions of the console. A session is its key, sealed: what revokes the key ends the session, on every instance. */
export interface ConsoleSessions {
  /** The `set-cookie` of a new session. `isSecure` when the browser came by https. */
  open(secret: string, isSecure: boolean): string
  /** The `set-cookie` that ends a session. */
  close(isSecure: boolean): string
  /** The key behind a request's headers; null without the cookie, without `x-millrace-session`, or when it has ended. */
  secretOf(headers: SessionHeaders): string | null
}

/** The headers of a request, as Node gives them. */
export type SessionHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** Seals sessions with a secret that all instances share. */
export function createConsoleSessions(sharedSecret: Uint8Array, clock: Clock): ConsoleSessions {
  const sealingKey = new Uint8Array(hkdfSync('sha256', sharedSecret, '', 'console session', 32))

  function seal(secret: string, endsAt: number): string {
    const nonce = randomBytes(NONCE_BYTES)
    const instant = Buffer.alloc(INSTANT_BYTES)
    instant.writeBigUInt64BE(BigInt(endsAt))
    const cipher = createCipheriv('aes-256-gcm', sealingKey, nonce)
    const sealed = Buffer.concat([cipher.update(instant), cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')
  }

  function unseal(token: string): string | null {
    const bytes = Buffer.from(token, 'base64url')
    if (bytes.length <= NONCE_BYTES + TAG_BYTES + INSTANT_BYTES) return null
    const decipher = createDecipheriv('aes-256-gcm', sealingKey, bytes.subarray(0, NONCE_BYTES))
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    try {
      const opened = Buffer.concat([
        decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)),
        decipher.final(),
      ])
      if (Number(opened.readBigUInt64BE(0)) <= clock.now()) return null
      return opened.subarray(INSTANT_BYTES).toString('utf8')
    } catch {
      // Sealed with another secret, or tampered with.
      return null
    }
  }

  return {
    open: (secret, isSecure) =>
      cookie(seal(secret, clock.now() + LIFETIME_MS), Math.floor(LIFETIME_MS / 1000), isSecure),
    close: (isSecure) => cookie('', 0, isSecure),
    secretOf: (headers) => {
      if (headers[SESSION_HEADER] === undefined) return null
      const token = new RegExp(`(?:^|; *)${COOKIE}=([\\w-]+)`).exec(String(headers['cookie'] ?? ''))?.[1]
      return token === undefined ? null : unseal(token)
    },
  }
}

function cookie(value: string, maxAgeSeconds: number, isSecure: boolean): string {
  return `${COOKIE}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
}
