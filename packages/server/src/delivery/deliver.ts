import type { Clock } from '../platform/clock.ts'
import { joinBodies, webhookId } from './batch.ts'
import { decide, type Decision } from './decide.ts'
import {
  batchRequest,
  type Batch,
  type ClaimedLane,
  type LaneState,
  type LaneStore,
  type Settled,
  type Settlement,
} from './lane.ts'
import { createLease, type Lease } from './lease.ts'
import { describeOutcome, type Endpoint, type SendReport } from './outcome.ts'
import { settlePersistently } from './settle-persistently.ts'

/** What delivering needs from outside. */
export interface DeliverDependencies {
  readonly lanes: LaneStore
  readonly endpoint: Endpoint
  readonly clock: Clock
  /** In [0, 1), for jitter. */
  random(): number
  /** Between attempts to settle while the database is away. */
  sleep(ms: number): Promise<void>
  readonly leaseMs: number
  /** The deadline of a receiver (DL-2). */
  readonly timeoutMs: number
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

/** Batches of a lane before it goes to the end of the row, so that a flooding one delays no other (DL-9). */
const BATCHES_IN_A_ROW = 16
/** Spare time that a lease must have beyond the deadline when a request starts. */
const LEASE_MARGIN_MS = 1000

/** Why a lane was left: it has nothing to send, has to wait, had its turn, or has another owner. */
export type LeftLane = 'idle' | 'waiting' | 'more' | 'lost'

/**
 * Serves a claimed lane: send → settle, one request at a time and in order, until it is left (DL-3). No transaction is
 * open while a request runs. Aborting `stopping` ends it after the running attempt is settled, lease given back.
 */
export async function deliver(
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

function isLeaving(decision: Decision): boolean {
  return decision.waitMs > 0 || decision.step === 'disable'
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
  const { clock, endpoint, timeoutMs } = dependencies
  const startedAt = clock.now()
  const id = webhookId(lane.claim.laneId, batch.messages)
  const body = joinBodies(batch.messages.map((message) => message.body))
  const report = await endpoint.send(
    {
      url: lane.url,
      headers: lane.headers,
      secrets: lane.secrets,
      tls: lane.tls,
      body,
      webhookId: id,
      timestampSeconds: Math.floor(startedAt / 1000),
    },
    { timeoutMs },
  )
  const settledAt = clock.now()
  const decision = decide({
    ...report,
    ...batch,
    timeoutMs,
    lane: state,
    limits: lane.limits,
    agesFromAt: lane.agesFromAt,
    nowMs: settledAt,
    random: dependencies.random(),
  })
  const settlement: Settlement = {
    ...decision,
    attempt: {
      webhookId: id,
      startedAt,
      durationMs: Math.round(report.durationMs),
      outcome: report.outcome.kind,
      status: 'status' in report.outcome ? report.outcome.status : null,
      reason: describeOutcome(report.outcome),
      messages: batch.messages.length,
      bytes: body.byteLength,
      firstEventId: batch.messages.at(0)?.eventId ?? 0,
      lastEventId: batch.messages.at(-1)?.eventId ?? 0,
      answer: report.answer,
    },
    fromCursorSeq: state.cursorSeq,
    nextAttemptAt: settledAt + decision.waitMs,
    disabledReason: decision.step === 'disable' ? describeOutcome(report.outcome) : null,
    settledAt,
    isRetracting: lane.isRetracting,
    next: isLeaving(decision) || isTurnOver() ? null : batchRequest(lane.limits, decision.lane, settledAt),
  }
  const settled = await settlePersistently(dependencies, lane.claim, settlement, lease)
  dependencies.onAttempt?.({ lane, batch, report, decision, isClaimStanding: settled.state !== 'lost' })
  return { decision, settled }
}
