import type { DeliverDependencies, LeftLane, Surroundings } from './deliver-dependencies.ts'
import { deliverAtOnce } from './deliver-at-once.ts'
import { deliverInOrder } from './deliver-in-order.ts'
import type { ClaimedLane } from './lane.ts'

const ALONE: Surroundings = { takePlace: () => false, givePlace: () => {}, onWake: () => {} }

/**
 * Serves a claimed lane until it is left, in order or with several requests at once, as its channel allows (DL-3). No transaction is
 * open while a request runs. Aborting `stopping` ends it after what is under way is settled, lease given back.
 */
export function deliver(
  dependencies: DeliverDependencies,
  lane: ClaimedLane,
  claimedAt: number,
  stopping: AbortSignal,
  surroundings: Surroundings = ALONE,
): Promise<LeftLane> {
  if (lane.limits.requestsAtOnce === 1) return deliverInOrder(dependencies, lane, claimedAt, stopping)
  return deliverAtOnce(dependencies, lane, claimedAt, stopping, surroundings)
}
