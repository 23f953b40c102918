import type { Clock } from '../../src/platform/clock.ts'

/** A clock that stands still until it is moved. */
export interface ManualClock extends Clock {
  advance(ms: number): void
}

/** Starts at 2026-01-01 UTC. */
export function createManualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  let elapsedMs = 0
  return {
    now: () => startMs + elapsedMs,
    monotonic: () => elapsedMs,
    advance: (ms) => {
      elapsedMs += ms
    },
  }
}
