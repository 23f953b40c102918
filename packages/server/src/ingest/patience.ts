import type { ErrorCode } from '@millrace/contract'
import type { Clock } from '../platform/clock.ts'
import { ServiceError } from '../platform/errors.ts'

/** Failures of the engine that pass: it is restarting, overloaded, or did not answer in time. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'unavailable',
  'deadline_exceeded',
  'resource_exhausted',
  'cancelled',
])

const FIRST_WAIT_MS = 50
const LONGEST_WAIT_MS = 1000

export interface Patience {
  readonly clock: Clock
  readonly sleep: (ms: number) => Promise<unknown>
  readonly maxEngineAwayMs: number
}

/** Does a failure pass by itself, so that the same step may succeed later? */
export function isPassing(error: unknown): boolean {
  return error instanceof ServiceError && PASSING.has(error.code)
}

/** Runs a step that may be repeated until it succeeds, fails for good, or the engine has been away for too long: then `unavailable`. */
export async function patiently(step: () => Promise<void>, patience: Patience): Promise<void> {
  const giveUpAt = patience.clock.monotonic() + patience.maxEngineAwayMs
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    try {
      return await step()
    } catch (error) {
      if (!isPassing(error)) throw error
      if (patience.clock.monotonic() + waitMs > giveUpAt) {
        throw new ServiceError(
          'unavailable',
          `nothing was stored, send it again later: ${(error as ServiceError).message}`,
          {
            cause: error,
            retryAfterSeconds: 5,
          },
        )
      }
      await patience.sleep(waitMs)
    }
  }
}
