import { decide, type Decision, type EndedAttempt } from './decide.ts'
import type { ChannelLimits } from './channel.ts'
import type { Batch, LaneState } from './lane.ts'

/** What a lane knows beside an attempt that has ended. */
export interface Beside {
  /** The first sequence number that another request has, or that one which failed left in the queue; Infinity if none. */
  readonly firstElsewhere: number
  /** The last one that was read into a request. */
  readonly readSeq: number
  /** Epoch milliseconds: until when the lane waits, because another request failed meanwhile; null if none did. */
  readonly waitsUntilAt: number | null
}

/** What follows from an attempt beside others. */
export interface DecidedBeside {
  readonly decision: Decision
  /** Epoch milliseconds. */
  readonly nextAttemptAt: number
  /** The first sequence number that it leaves in the queue; Infinity if none. */
  readonly firstLeft: number
}

/**
 * {@link decide} for one of several requests at once (DL-3): the cursor stays before all that is under way or was left. Of requests
 * that fail beside each other the first counts as a failure of the lane, and nothing that is acknowledged after it makes up for it.
 */
export function decideBeside(
  attempt: EndedAttempt,
  { firstElsewhere, readSeq, waitsUntilAt }: Beside,
): DecidedBeside {
  const hasLaneFailed = waitsUntilAt !== null
  // As if it were the first.
  const before = { ...attempt.lane, failures: Math.max(0, attempt.lane.failures - 1) }
  const alone = decide(hasLaneFailed ? { ...attempt, lane: before } : attempt)
  // A shelved message has a schedule of its own.
  const { buried, shelved } = attempt.isShelved ? alone : { buried: [], shelved: [] }
  const decided = hasLaneFailed ? { ...alone, buried, shelved, lane: attempt.lane } : alone
  const settled = new Set(
    [...decided.acknowledged, ...decided.buried, ...decided.shelved].map(({ seq }) => seq),
  )
  const firstLeft = attempt.isShelved
    ? Infinity
    : (attempt.messages.find(({ seq }) => !settled.has(seq))?.seq ?? Infinity)
  const reached = Math.min(firstElsewhere, firstLeft, readSeq + 1) - 1
  const cursorSeq = Math.max(attempt.lane.cursorSeq, reached)
  const nextAttemptAt = Math.max(waitsUntilAt ?? 0, attempt.nowMs + alone.waitMs)
  return {
    decision: { ...decided, lane: { ...decided.lane, cursorSeq }, waitMs: nextAttemptAt - attempt.nowMs },
    nextAttemptAt,
    firstLeft,
  }
}

/** Requests that a lane may have under way: one while it fails, comes back (DL-7) or looks for what is refused (DL-4), and to keep a rate. */
export function requestsAllowed(limits: ChannelLimits, lane: LaneState): number {
  const isCareful = lane.failures > 0 || lane.refusals > 0 || lane.batchLimit !== null
  return isCareful || limits.requestsPerSecond !== null ? 1 : limits.requestsAtOnce
}

/** A batch up to the first message of which another revision is under way, as one goes out only after the other has ended (DL-8); null if that is none. */
export function beforeBusyEvents(batch: Batch, underWay: Iterable<Batch>): Batch | null {
  const busy = new Set([...underWay].flatMap(({ messages }) => messages.map(({ eventId }) => eventId)))
  const end = batch.messages.findIndex(({ eventId }) => busy.has(eventId))
  if (end === -1) return batch
  return end === 0 ? null : { ...batch, messages: batch.messages.slice(0, end) }
}
