import type { Clock } from '../platform/clock.ts'

/** Tells whether large batches are being stored: then what is stored beside them waits for the engine. */
export interface Rush {
  /** To be called when a group of large batches begins to be stored, and what it returns when that has ended. */
  begin(): () => void
  isOn(): boolean
}

/** Whoever sends large batches sends the next one within this time. */
const LASTS_MS = 1000

export function createRush(clock: Pick<Clock, 'monotonic'>): Rush {
  let underWay = 0
  let endsAt = -Infinity
  return {
    begin: () => {
      underWay++
      return () => {
        underWay--
        endsAt = clock.monotonic() + LASTS_MS
      }
    },
    isOn: () => underWay > 0 || clock.monotonic() < endsAt,
  }
}
