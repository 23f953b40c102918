import type { Clock } from '../platform/clock.ts'
import { joinBodies, webhookId } from './batch.ts'
import type { Decision } from './decide.ts'
import type { Batch, ClaimedLane, Settlement } from './lane.ts'
import { describeOutcome, type Endpoint, type SendReport } from './outcome.ts'

/** What sending needs from outside. */
export interface SendDependencies {
  readonly endpoint: Endpoint
  readonly clock: Clock
  /** The deadline of a receiver (DL-2). */
  readonly timeoutMs: number
}

/** A request that has ended. */
export interface SentBatch {
  readonly batch: Batch
  readonly webhookId: string
  readonly bytes: number
  readonly report: SendReport
  /** Epoch milliseconds. */
  readonly startedAt: number
  readonly endedAt: number
}

/** Sends messages to the receiver of a lane, in one request. Never throws. */
export async function sendBatch(
  { clock, endpoint, timeoutMs }: SendDependencies,
  lane: ClaimedLane,
  batch: Batch,
): Promise<SentBatch> {
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
  return { batch, webhookId: id, bytes: body.byteLength, report, startedAt, endedAt: clock.now() }
}

/** What a request and the decision about it change. */
export function settlementOf(
  { batch, webhookId, bytes, report, startedAt, endedAt }: SentBatch,
  decision: Decision,
  rest: Pick<Settlement, 'fromCursorSeq' | 'nextAttemptAt' | 'isRetracting' | 'next'>,
): Settlement {
  return {
    ...decision,
    ...rest,
    attempt: {
      webhookId,
      startedAt,
      durationMs: Math.round(report.durationMs),
      outcome: report.outcome.kind,
      status: 'status' in report.outcome ? report.outcome.status : null,
      reason: describeOutcome(report.outcome),
      messages: batch.messages.length,
      bytes,
      firstEventId: batch.messages.at(0)?.eventId ?? 0,
      lastEventId: batch.messages.at(-1)?.eventId ?? 0,
      answer: report.answer,
    },
    disabledReason: decision.step === 'disable' ? describeOutcome(report.outcome) : null,
    settledAt: endedAt,
  }
}
