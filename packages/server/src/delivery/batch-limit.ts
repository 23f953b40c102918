import type { EndedAttempt, Step } from './decide.ts'
import { verdictOf } from './outcome.ts'

/** Messages in the first batches after an outage; doubled with every success. */
const FIRST_BATCH_AFTER_OUTAGE = 10
/** Failures in a row that make an outage. */
const OUTAGE_FAILURES = 3

/**
 * How many messages the next batch may have (DL-7): half after an answer that took more than half of the deadline, after a
 * timeout and when a batch is split; few from the third failure in a row on, so that whoever comes back meets a small request
 * first; twice as many after a quick answer, until the channel's own limit holds. `hasBuried` lifts the limit: where letters die,
 * they die by the batch, and not one by one (DL-5).
 */
export function nextBatchLimit(attempt: EndedAttempt, step: Step, hasBuried = false): number | null {
  const { lane, limits, messages, isShelved } = attempt
  if (isShelved) return lane.batchLimit
  if (hasBuried) return null
  if (step === 'split' || attempt.outcome.kind === 'timed_out') return half(messages.length)
  if (step !== 'acknowledge') return isOutage(attempt) ? afterOutage(attempt) : lane.batchLimit
  if (attempt.durationMs > attempt.timeoutMs / 2) return half(messages.length)
  if (lane.batchLimit === null) return null
  return below(limits.maxBatchMessages, lane.batchLimit * 2)
}

/** This is the third failure in a row, or a later one, that concerns the endpoint. */
function isOutage({ outcome, lane }: EndedAttempt): boolean {
  return verdictOf(outcome) === 'endpoint' && lane.failures + 1 >= OUTAGE_FAILURES
}

function afterOutage({ lane, limits }: EndedAttempt): number | null {
  return below(limits.maxBatchMessages, Math.min(lane.batchLimit ?? Infinity, FIRST_BATCH_AFTER_OUTAGE))
}

function half(count: number): number {
  return Math.max(1, Math.ceil(count / 2))
}

function below(max: number, limit: number): number | null {
  return limit >= max ? null : limit
}
