import type { Clock } from '../platform/clock.ts'
import type { RefreshFailure } from './cache-policy.ts'

/** Keys whose last refresh failed, and when they may be tried again (CA-4). */
export interface Pauses {
  isPaused(key: string): boolean
  failureOf(key: string): RefreshFailure | null
  /** Notes a failure; the pause doubles with each. */
  note(key: string, message: string): RefreshFailure
  clear(key: string): void
}

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000
const KEYS_MAX = 10_000

/** Remembers the most recent failures; a key that is forgotten is merely tried again earlier. */
export function createPauses(clock: Clock): Pauses {
  const failures = new Map<string, RefreshFailure>()
  return {
    isPaused: (key) => {
      const failure = failures.get(key)
      // A clock that went back must not prolong a pause.
      return (
        failure !== undefined &&
        failure.retryAt > clock.now() &&
        failure.retryAt <= clock.now() + LONGEST_PAUSE_MS
      )
    },
    failureOf: (key) => failures.get(key) ?? null,
    note: (key, message) => {
      const attempts = (failures.get(key)?.attempts ?? 0) + 1
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS)
      const failure = { message, attempts, retryAt: clock.now() + pauseMs }
      failures.delete(key)
      failures.set(key, failure)
      const [oldest] = failures.keys()
      if (failures.size > KEYS_MAX && oldest !== undefined) failures.delete(oldest)
      return failure
    },
    clear: (key) => void failures.delete(key),
  }
}
