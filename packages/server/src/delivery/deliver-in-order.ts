import { decide, type Decision } from './decide.ts'
import {
  BATCHES_IN_A_ROW,
  isLeaving,
  LEASE_MARGIN_MS,
  type DeliverDependencies,
  type LeftLane,
} from './deliver-dependencies.ts'
import { batchRequest, type Batch, type ClaimedLane, type LaneState, type Settled } from './lane.ts'
import { createLease, type Lease } from './lease.ts'
import { sendBatch, settlementOf } from './send-batch.ts'
import { settlePersistently } from './settle-persistently.ts'

/** Serves a claimed lane: send → settle, one request at a time and in order (DL-3). */
export async function deliverInOrder(
  { lanes, ...rest }: DeliverDependencies,
  lane: ClaimedLane,
  claimedAt: number,
  stopping: AbortSignal,
): Promise<LeftLane> {
  const dependencies = { lanes, ...rest }
  const lease = createLease(dependencies, lane.claim, claimedAt)
  let state = lane.state
  const nextRequest = () => batchRequest(lane.limits, state, rest.clock.now())
  let batch = lane.first ?? (await lanes.nextBatch(lane.claim, nextRequest()))
  for (let round = 1; ; round += 1) {
    if (batch === null || stopping.aborted) {
      await lanes.release(lane.claim, rest.clock.now())
      return batch === null ? 'idle' : 'more'
    }
    const isAnnounced =
      !lane.isRetracting || (await lanes.announce(lane.claim, batch.messages, rest.clock.now()))
    let next: Batch | null = null
    if (isAnnounced) {
      if (!(await lease.covers(rest.timeoutMs + LEASE_MARGIN_MS))) return 'lost'
      const isTurnOver = () => round >= BATCHES_IN_A_ROW || stopping.aborted
      const { decision, settled } = await attempt(dependencies, lane, state, batch, lease, isTurnOver)
      if (settled.state === 'lost') return 'lost'
      if (isLeaving(decision)) return 'waiting'
      if (settled.state !== 'held') return isTurnOver() ? 'more' : 'idle'
      state = decision.lane
      next = settled.next
    }
    batch = next ?? (await lanes.nextBatch(lane.claim, nextRequest()))
  }
}

/** An attempt, and what settling it left. */
interface SettledAttempt {
  readonly decision: Decision
  readonly settled: Settled
}

async function attempt(
  dependencies: DeliverDependencies,
  lane: ClaimedLane,
  state: LaneState,
  batch: Batch,
  lease: Lease,
  isTurnOver: () => boolean,
): Promise<SettledAttempt> {
  const sent = await sendBatch(dependencies, lane, batch)
  const { report, endedAt } = sent
  const decision = decide({
    ...report,
    ...batch,
    timeoutMs: dependencies.timeoutMs,
    lane: state,
    limits: lane.limits,
    agesFromAt: lane.agesFromAt,
    nowMs: endedAt,
    random: dependencies.random(),
  })
  const settlement = settlementOf(sent, decision, {
    fromCursorSeq: state.cursorSeq,
    nextAttemptAt: endedAt + decision.waitMs,
    isRetracting: lane.isRetracting,
    next: isLeaving(decision) || isTurnOver() ? null : batchRequest(lane.limits, decision.lane, endedAt),
  })
  const settled = await settlePersistently(dependencies, lane.claim, settlement, lease)
  dependencies.onAttempt?.({ lane, batch, report, decision, isClaimStanding: settled.state !== 'lost' })
  return { decision, settled }
}
