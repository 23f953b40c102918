import type { EndedAttempt, Step } from './decide.ts'

/** Messages in the first batches after an outage; doubled with every success. */
const FIRST_BATCH_AFTER_OUTAGE = 10
/** Failures in a row that make an outage. */
const OUTAGE_FAILURES = 3

/**
 * How many messages the next batch may have (DL-7): half after an answer that took more than half of the deadline,
 * after a timeout and when a batch is split; twice as many after a quick answer, until the channel's own limit holds.
 */
export function nextBatchLimit(attempt: EndedAttempt, step: Step): number | null {
  const { lane, limits, messages, isShelved } = attempt
  if (isShelved) return lane.batchLimit
  if (step === 'split' || attempt.outcome.kind === 'timed_out') return half(messages.length)
  if (step !== 'acknowledge') return lane.batchLimit
  if (attempt.durationMs > attempt.timeoutMs / 2) return half(messages.length)
  if (lane.failures >= OUTAGE_FAILURES) return below(limits.maxBatchMessages, FIRST_BATCH_AFTER_OUTAGE)
  return lane.batchLimit === null ? null : below(limits.maxBatchMessages, lane.batchLimit * 2)
}

function half(count: number): number {
  return Math.max(1, Math.ceil(count / 2))
}

function below(max: number, limit: number): number | null {
  return limit >= max ? null : limit
}
