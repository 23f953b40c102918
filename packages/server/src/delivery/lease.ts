import type { Clock } from '../platform/clock.ts'
import type { LaneClaim, LaneStore } from './lane.ts'

/** What a lease is kept with. */
export interface LeaseDependencies {
  readonly lanes: LaneStore
  readonly clock: Clock
  readonly leaseMs: number
}

/** A lease by the monotonic clock, which no jump of the wall clock shortens or prolongs. */
export interface Lease {
  /** True when at least `durationMs` of it are left, after renewing it if need be; false when another has the lane. */
  covers(durationMs: number): Promise<boolean>
  /** Milliseconds that are left without renewing. */
  remainingMs(): number
}

/**
 * Keeps the lease of a claim: a request starts only while enough of it is left, so a process that was stalled does not
 * send beside the new owner (DL-6). `claimedAt` is monotonic, taken before the claim.
 */
export function createLease(
  { lanes, clock, leaseMs }: LeaseDependencies,
  claim: LaneClaim,
  claimedAt: number,
): Lease {
  let endsAt = claimedAt + leaseMs
  const remainingMs = () => endsAt - clock.monotonic()
  return {
    remainingMs,
    async covers(durationMs) {
      if (remainingMs() >= durationMs) return true
      const renewedAt = clock.monotonic()
      if (!(await lanes.renew(claim, clock.now() + leaseMs))) return false
      endsAt = renewedAt + leaseMs
      return remainingMs() >= durationMs
    },
  }
}
