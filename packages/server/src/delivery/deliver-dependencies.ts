import type { Decision } from './decide.ts'
import type { Batch, ClaimedLane, LaneStore } from './lane.ts'
import type { SendReport } from './outcome.ts'
import type { SendDependencies } from './send-batch.ts'

/** What delivering needs from outside. */
export interface DeliverDependencies extends SendDependencies {
  readonly lanes: LaneStore
  /** In [0, 1), for jitter. */
  random(): number
  /** Between attempts to settle while the database is away. */
  sleep(ms: number): Promise<void>
  readonly leaseMs: number
  /** Told about every attempt once it is settled. */
  onAttempt?(event: DeliveredAttempt): void
}

/** One attempt with what followed, for the canonical log line. */
export interface DeliveredAttempt {
  readonly lane: ClaimedLane
  readonly batch: Batch
  readonly report: SendReport
  readonly decision: Decision
  /** False when the lane had another owner by the time the attempt ended. */
  readonly isClaimStanding: boolean
}

/** What a lane with several requests at once has from whoever serves many lanes. */
export interface Surroundings {
  /** A place for a request beside the first one of a lane; false when there is none for its host. */
  takePlace(host: string): boolean
  givePlace(host: string): void
  /** Calls `listener` whenever something may have come for the lane while it is served. */
  onWake(laneId: number, listener: () => void): void
}

/** Why a lane was left: it has nothing to send, has to wait, had its turn, or has another owner. */
export type LeftLane = 'idle' | 'waiting' | 'more' | 'lost'

/** Batches of a lane before it goes to the end of the row, so that a flooding one delays no other (DL-9). */
export const BATCHES_IN_A_ROW = 16
/** Spare time that a lease must have beyond the deadline when a request starts. */
export const LEASE_MARGIN_MS = 1000

/** The lane waits, or is disabled. */
export function isLeaving(decision: Decision): boolean {
  return decision.waitMs > 0 || decision.step === 'disable'
}
