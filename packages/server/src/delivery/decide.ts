import { backoffMs, raiseByRetryAfter } from './backoff.ts'
import { nextBatchLimit } from './batch-limit.ts'
import type { ChannelLimits } from './channel.ts'
import type { LaneState, QueuedMessage } from './lane.ts'
import { verdictOf, type Outcome, type Verdict } from './outcome.ts'

/**
 * What was sent, as far as it matters: several messages or a single one, with tries left before the content is
 * suspected or without, or a message that is shelved already (DL-4).
 */
export const SITUATIONS = ['several', 'single', 'several_suspected', 'single_suspected', 'shelved'] as const
export type Situation = (typeof SITUATIONS)[number]

/**
 * `acknowledge`: the messages leave the queue. `retry`: the lane waits and sends them again. `split`: a part of them
 * is sent next. `shelve`: the message waits on its own schedule and the lane goes on. `disable`: nothing is sent any more.
 */
export type Step = 'acknowledge' | 'retry' | 'split' | 'shelve' | 'disable'

/** The state table of delivery. */
export const STEPS = {
  acknowledged: always('acknowledge'),
  endpoint: always('retry'),
  content: {
    several: 'retry',
    single: 'retry',
    several_suspected: 'split',
    single_suspected: 'shelve',
    shelved: 'shelve',
  },
  too_large: {
    several: 'split',
    single: 'retry',
    several_suspected: 'split',
    single_suspected: 'shelve',
    shelved: 'shelve',
  },
  gone: always('disable'),
} as const satisfies Record<Verdict, Record<Situation, Step>>

/** Tries of a batch before it is split. */
const TRIES_BEFORE_SUSPICION = 3

/** One attempt that has ended, and what is known about its lane. */
export interface EndedAttempt {
  readonly outcome: Outcome
  readonly durationMs: number
  readonly timeoutMs: number
  readonly messages: readonly QueuedMessage[]
  readonly isShelved: boolean
  readonly lane: LaneState
  readonly limits: ChannelLimits
  readonly agesFromAt: number
  readonly nowMs: number
  /** In [0, 1). */
  readonly random: number
}

/** What follows from an attempt. */
export interface Decision {
  readonly step: Step
  readonly acknowledged: readonly QueuedMessage[]
  readonly buried: readonly QueuedMessage[]
  readonly shelved: readonly { readonly seq: number; readonly tries: number; readonly untilAt: number }[]
  readonly lane: LaneState
  /** Milliseconds until the lane may send again: after a failure, or to keep its rate. */
  readonly waitMs: number
  readonly attempts: number
}

/** Decides every transition of delivery. Pure: the same attempt has the same consequences. */
export function decide(attempt: EndedAttempt): Decision {
  const step = STEPS[verdictOf(attempt.outcome)][situationOf(attempt)]
  const { lane } = attempt
  switch (step) {
    case 'acknowledge': {
      const batchLimit = nextBatchLimit(attempt, step)
      const refusals = batchLimit === null ? 0 : lane.refusals
      const rest = { failures: 0, failingSinceAt: null, refusals, batchLimit }
      return settle(attempt, step, { acknowledged: attempt.messages, waitMs: 0, attempts: 0, lane: rest })
    }
    case 'retry':
    case 'disable': {
      const failed = afterFailure(attempt)
      const buried = step === 'disable' ? [] : overdue(attempt, failed.failures)
      return settle(attempt, step, {
        buried,
        waitMs: waitAfter(attempt, failed.failures),
        attempts: failed.failures,
        lane: { ...failed, batchLimit: nextBatchLimit(attempt, step, buried.length > 0) },
      })
    }
    case 'split':
      return settle(attempt, step, {
        waitMs: waitAfter(attempt, 1),
        attempts: lane.failures + 1,
        lane: {
          ...afterFailure(attempt),
          failures: 0,
          refusals: TRIES_BEFORE_SUSPICION,
          batchLimit: nextBatchLimit(attempt, step),
        },
      })
    case 'shelve':
      return shelve(attempt, nextBatchLimit(attempt, step))
  }
}

function situationOf({ isShelved, messages, lane }: EndedAttempt): Situation {
  if (isShelved) return 'shelved'
  const hasTriesLeft = lane.refusals + 1 < TRIES_BEFORE_SUSPICION
  if (messages.length > 1) return hasTriesLeft ? 'several' : 'several_suspected'
  return hasTriesLeft ? 'single' : 'single_suspected'
}

function afterFailure({ outcome, lane, nowMs }: EndedAttempt): Omit<LaneState, 'cursorSeq'> {
  return {
    failures: lane.failures + 1,
    failingSinceAt: lane.failingSinceAt ?? nowMs,
    refusals: verdictOf(outcome) === 'endpoint' ? lane.refusals : lane.refusals + 1,
    batchLimit: lane.batchLimit,
  }
}

/** A single refused message: its own schedule or, when that has run out, the dead letters. */
function shelve(attempt: EndedAttempt, batchLimit: number | null): Decision {
  const [message] = attempt.messages
  if (message === undefined) throw new Error('an attempt without a message')
  const tries = Math.max(message.tries, attempt.isShelved ? 0 : attempt.lane.refusals) + 1
  const isOverdue = overdue(attempt, tries).length > 0
  const wait = backoffMs(attempt.limits.backoff, tries, attempt.random)
  const rested = raiseByRetryAfter(wait, retryAfterMs(attempt.outcome), attempt.limits.backoff)
  // The second message in a row that is refused alone speaks against the endpoint: the lane slows down too.
  const inRow = attempt.lane.failures
  return settle(attempt, 'shelve', {
    buried: isOverdue ? [message] : [],
    shelved: isOverdue ? [] : [{ seq: message.seq, tries, untilAt: attempt.nowMs + rested }],
    waitMs: attempt.isShelved || inRow === 0 ? 0 : backoffMs(attempt.limits.backoff, inRow, attempt.random),
    attempts: tries,
    lane: attempt.isShelved
      ? attempt.lane
      : { ...afterFailure(attempt), failures: inRow + 1, refusals: TRIES_BEFORE_SUSPICION, batchLimit },
  })
}

/** DL-5: old enough, and its lane failed often enough; this attempt is the real one that every letter has. */
function overdue(attempt: EndedAttempt, failures: number): readonly QueuedMessage[] {
  const { deadLetter } = attempt.limits
  if (failures < deadLetter.attempts) return []
  return attempt.messages.filter(({ enqueuedAt }) => {
    const age = attempt.nowMs - Math.max(enqueuedAt, attempt.agesFromAt)
    // Another machine, whose clock is ahead, may have stored it.
    return Math.max(0, age) >= deadLetter.ageMs
  })
}

function waitAfter({ outcome, limits, random }: EndedAttempt, failures: number): number {
  return raiseByRetryAfter(backoffMs(limits.backoff, failures, random), retryAfterMs(outcome), limits.backoff)
}

function retryAfterMs(outcome: Outcome): number | null {
  return outcome.kind === 'refused' ? outcome.retryAfterMs : null
}

/** Completes a decision: what it leaves out is empty, and the cursor moves past all that no longer waits in order. */
function settle(
  attempt: EndedAttempt,
  step: Step,
  partial: Partial<Pick<Decision, 'acknowledged' | 'buried' | 'shelved'>> &
    Pick<Decision, 'waitMs' | 'attempts'> & { readonly lane: Omit<LaneState, 'cursorSeq'> },
): Decision {
  const { acknowledged = [], buried = [], shelved = [] } = partial
  const settled = new Set([...acknowledged, ...buried, ...shelved].map(({ seq }) => seq))
  const firstLeft = attempt.messages.find(({ seq }) => !settled.has(seq))
  const lastSent = attempt.messages.at(-1)?.seq ?? 0
  const reached = firstLeft === undefined ? lastSent : firstLeft.seq - 1
  const cursorSeq = Math.max(attempt.lane.cursorSeq, attempt.isShelved ? 0 : reached)
  const waitMs = Math.max(partial.waitMs, paceMs(attempt))
  return { ...partial, step, waitMs, acknowledged, buried, shelved, lane: { ...partial.lane, cursorSeq } }
}

/** What of the time between two requests of the channel's rate is left after this one (DL-3). */
function paceMs({ limits, durationMs }: EndedAttempt): number {
  if (limits.requestsPerSecond === null) return 0
  return Math.max(0, Math.ceil(1000 / limits.requestsPerSecond - durationMs))
}

function always<S extends Step>(step: S): Record<Situation, S> {
  return {
    several: step,
    single: step,
    several_suspected: step,
    single_suspected: step,
    shelved: step,
  }
}
