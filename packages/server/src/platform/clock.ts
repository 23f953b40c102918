import { performance } from 'node:perf_hooks'

/** Where time comes from, so that tests can hold it still. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. May jump. */
  now(): number
  /** Milliseconds from an arbitrary origin. Never goes back; for deadlines and leases. */
  monotonic(): number
}

/** The machine's clocks. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
