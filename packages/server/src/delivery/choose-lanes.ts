import { hostShare } from './host-share.ts'
import type { ClaimRequest } from './lane.ts'

/** A lane that could be claimed. */
export interface ReadyLane {
  readonly id: number
  readonly host: string
  /** Its last request failed. */
  readonly isFailing: boolean
}

/**
 * Which of the ready lanes, in order of how long they have waited, are claimed: failing ones only up to their share, and of
 * each host no more than its share and than is left to it (DL-9).
 */
export function chooseLanes(
  ready: readonly ReadyLane[],
  { limit, failingLimit, hostLimit, busyHosts }: ClaimRequest,
): readonly ReadyLane[] {
  const share = hostShare(hostLimit)
  const underWay = new Map(busyHosts)
  const chosen: ReadyLane[] = []
  for (const isFailing of [true, false]) {
    const room = isFailing ? Math.min(failingLimit, limit) : limit - chosen.length
    const taken = new Map<string, number>()
    let count = 0
    for (const lane of ready) {
      if (count >= room) break
      const ofHost = taken.get(lane.host) ?? 0
      const busy = underWay.get(lane.host) ?? 0
      if (lane.isFailing !== isFailing || ofHost >= share || busy >= hostLimit) continue
      taken.set(lane.host, ofHost + 1)
      underWay.set(lane.host, busy + 1)
      chosen.push(lane)
      count += 1
    }
  }
  return chosen
}
