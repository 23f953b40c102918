import type { Lease } from './lease.ts'
import type { LaneClaim, LaneStore, Settled, Settlement } from './lane.ts'

/** What settling needs from outside. */
export interface SettleDependencies {
  readonly lanes: LaneStore
  sleep(ms: number): Promise<void>
}

const FIRST_PAUSE_MS = 100

/**
 * Settles, and again while the database does not take it and the lease lasts: an acknowledgement that is not recorded
 * means a message sent twice (DL-6). Settling twice is harmless: the second finds its messages gone and the lane released.
 */
export async function settlePersistently(
  { lanes, sleep }: SettleDependencies,
  claim: LaneClaim,
  settlement: Settlement,
  lease: Lease,
): Promise<Settled> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    try {
      return await lanes.settle(claim, settlement)
    } catch (error) {
      if (lease.remainingMs() <= pauseMs) throw error
      await sleep(pauseMs)
    }
  }
}
