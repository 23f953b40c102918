import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../platform/clock.ts'
import { ServiceError } from '../platform/errors.ts'

/**
 * Keeps long computing from holding the event loop: called between small pieces of work, it gives a promise to await
 * when it is time to let others in, and undefined when it is not.
 */
export interface Pace {
  turn(): Promise<void> | undefined
}

/** How long computing may hold the event loop. */
const SLICE_MS = 10
/** The same at the beginning, which may follow at once on what another pace let through. */
const FIRST_SLICE_MS = 4

/** A pace for one query; its promise throws `cancelled` when the caller went away. */
export function createPace(clock: Clock, signal: AbortSignal): Pace {
  let pausedAt = clock.monotonic() - SLICE_MS + FIRST_SLICE_MS
  async function rest(): Promise<void> {
    await setImmediate()
    if (signal.aborted) throw new ServiceError('cancelled', 'the query was cancelled')
    pausedAt = clock.monotonic()
  }
  return { turn: () => (clock.monotonic() - pausedAt > SLICE_MS ? rest() : undefined) }
}
