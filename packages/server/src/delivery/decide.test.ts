import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs, raiseByRetryAfter } from './backoff.ts'
import { DEFAULT_LIMITS } from './channel.ts'
import { decide, SITUATIONS, STEPS, type EndedAttempt } from './decide.ts'
import type { QueuedMessage } from './lane.ts'
import { VERDICTS, verdictOf, type Outcome } from './outcome.ts'

const message = (seq: number, enqueuedAt = 0): QueuedMessage => ({
  seq,
  eventId: seq,
  version: 1,
  chain: '1',
  blockNumber: 1,
  hash: `${seq}`,
  body: Buffer.from('{}'),
  enqueuedAt,
  tries: 0,
})

const outcomes: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({ kind: fc.constant('acknowledged' as const), status: fc.integer({ min: 200, max: 209 }) }),
  fc.record({
    kind: fc.constant('refused' as const),
    status: fc.integer({ min: 100, max: 599 }),
    retryAfterMs: fc.option(fc.nat()),
  }),
  fc.constant({ kind: 'timed_out' as const }),
  fc.constant({ kind: 'unreachable' as const, reason: 'no such host' }),
)

const attempts: fc.Arbitrary<EndedAttempt> = fc
  .record({
    outcome: outcomes,
    durationMs: fc.nat({ max: 5000 }),
    count: fc.integer({ min: 1, max: 100 }),
    isShelved: fc.boolean(),
    failures: fc.nat({ max: 40 }),
    refusals: fc.nat({ max: 6 }),
    batchLimit: fc.option(fc.integer({ min: 1, max: 99 })),
    nowMs: fc.nat({ max: 3 * 24 * 3_600_000 }),
    random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  })
  .map(({ count, isShelved, failures, refusals, batchLimit, ...rest }) => ({
    ...rest,
    isShelved,
    timeoutMs: 5000,
    messages: Array.from({ length: isShelved ? 1 : count }, (_, n) => message(10 + n)),
    lane: { failures, failingSinceAt: failures > 0 ? 0 : null, refusals, batchLimit, cursorSeq: 9 },
    limits: DEFAULT_LIMITS,
    agesFromAt: 0,
  }))

/** The attempt of a lane whose receiver answers at once. */
function answered(status: number, count: number, lane: EndedAttempt['lane']): EndedAttempt {
  const outcome: Outcome =
    status < 210 ? { kind: 'acknowledged', status } : { kind: 'refused', status, retryAfterMs: null }
  return {
    outcome,
    durationMs: 1,
    timeoutMs: 5000,
    messages: Array.from({ length: count }, (_, n) => message(n + 1)),
    isShelved: false,
    lane,
    limits: DEFAULT_LIMITS,
    agesFromAt: 0,
    nowMs: 1000,
    random: 0.5,
  }
}

describe('decide', () => {
  it('has a step for every verdict in every situation (DL-3, DL-4)', () => {
    for (const verdict of VERDICTS) expect(Object.keys(STEPS[verdict])).toEqual([...SITUATIONS])
  })

  it.each([
    [200, 'acknowledged'],
    [302, 'endpoint'],
    [400, 'content'],
    [401, 'endpoint'],
    [404, 'endpoint'],
    [408, 'endpoint'],
    [410, 'gone'],
    [413, 'too_large'],
    [415, 'content'],
    [422, 'content'],
    [429, 'endpoint'],
    [500, 'endpoint'],
  ] as const)('reads an answer %i as %s (DL-3, DL-4)', (status, verdict) => {
    const outcome: Outcome =
      verdict === 'acknowledged'
        ? { kind: 'acknowledged', status }
        : { kind: 'refused', status, retryAfterMs: null }
    expect(verdictOf(outcome)).toBe(verdict)
  })

  it('leaves every message in exactly one place, and the cursor before the first that waits (DL-5, DL-6)', () => {
    fc.assert(
      fc.property(attempts, (attempt) => {
        const { acknowledged, buried, shelved, lane } = decide(attempt)
        const settled = [...acknowledged, ...buried, ...shelved].map(({ seq }) => seq)
        expect(new Set(settled).size).toBe(settled.length)
        const left = attempt.messages.filter(({ seq }) => !settled.includes(seq))
        if (!attempt.isShelved) {
          for (const { seq } of left) expect(lane.cursorSeq).toBeLessThan(seq)
        }
        expect(lane.cursorSeq).toBeGreaterThanOrEqual(attempt.lane.cursorSeq)
      }),
    )
  })

  it('buries nothing that is younger than the age or before the lane failed often enough (DL-5)', () => {
    fc.assert(
      fc.property(attempts, (attempt) => {
        const { buried, attempts: count } = decide(attempt)
        if (buried.length === 0) return
        expect(attempt.outcome.kind).not.toBe('acknowledged')
        expect(attempt.nowMs).toBeGreaterThanOrEqual(DEFAULT_LIMITS.deadLetter.ageMs)
        expect(count).toBeGreaterThanOrEqual(DEFAULT_LIMITS.deadLetter.attempts)
      }),
    )
  })

  it('never gives a batch a limit below one message, and halves it after a timeout (DL-7)', () => {
    fc.assert(
      fc.property(attempts, (attempt) => {
        const { lane, buried } = decide(attempt)
        if (lane.batchLimit !== null) expect(lane.batchLimit).toBeGreaterThanOrEqual(1)
        if (attempt.outcome.kind === 'timed_out' && !attempt.isShelved && buried.length === 0) {
          expect(lane.batchLimit).toBe(Math.max(1, Math.ceil(attempt.messages.length / 2)))
        }
      }),
    )
  })

  it('meets a receiver that comes back with 10 messages, then twice as many with each success (DL-7)', () => {
    const sizes: number[] = []
    let lane: EndedAttempt['lane'] = {
      failures: 0,
      failingSinceAt: null,
      refusals: 0,
      batchLimit: null,
      cursorSeq: 0,
    }
    const statuses = [...Array.from({ length: 11 }, () => 503), ...Array.from({ length: 5 }, () => 204)]
    for (const status of statuses) {
      const count = Math.min(DEFAULT_LIMITS.maxBatchMessages, lane.batchLimit ?? Infinity)
      sizes.push(count)
      lane = decide(answered(status, count, lane)).lane
    }
    expect(sizes).toEqual([100, 100, 100, ...Array.from({ length: 9 }, () => 10), 20, 40, 80, 100])
    expect(lane.batchLimit).toBeNull()
  })

  it('lets letters die by the whole batch once they die, also where the receiver hangs (DL-5)', () => {
    const lane = { failures: 12, failingSinceAt: 0, refusals: 0, batchLimit: 1, cursorSeq: 0 }
    const late = { ...answered(503, 1, lane), nowMs: DEFAULT_LIMITS.deadLetter.ageMs }
    expect(decide(late)).toMatchObject({ buried: [{ seq: 1 }], lane: { batchLimit: null } })
    expect(decide({ ...late, outcome: { kind: 'timed_out' } }).lane.batchLimit).toBeNull()
    // One that is too young to die leaves it small.
    expect(decide({ ...late, nowMs: 1000 }).lane.batchLimit).toBe(1)
  })

  it('takes a message for new that was stored by a clock ahead of its own (DL-5)', () => {
    const lane = { failures: 0, failingSinceAt: null, refusals: 0, batchLimit: null, cursorSeq: 0 }
    const failed = answered(503, 1, lane)
    const limits = { ...failed.limits, deadLetter: { ageMs: 0, attempts: 1 } }
    const early = { ...failed, messages: [message(1, failed.nowMs + 5)] }
    expect(decide({ ...early, limits }).buried).toMatchObject([{ seq: 1 }])
    expect(decide({ ...early, limits: { ...limits, deadLetter: { ageMs: 1, attempts: 1 } } }).buried).toEqual(
      [],
    )
  })

  it('waits between half and all of initial × 2^(failures−1), at most the cap (DL-3)', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (failures, random) => {
          const full = Math.min(3_600_000, 1000 * 2 ** (failures - 1))
          const waitMs = backoffMs(DEFAULT_LIMITS.backoff, failures, random)
          expect(waitMs).toBeGreaterThanOrEqual(full / 2)
          expect(waitMs).toBeLessThanOrEqual(full)
        },
      ),
    )
  })

  it('never shortens a wait by Retry-After (DL-3)', () => {
    expect(raiseByRetryAfter(4000, 1000, DEFAULT_LIMITS.backoff)).toBe(4000)
    expect(raiseByRetryAfter(4000, 9000, DEFAULT_LIMITS.backoff)).toBe(9000)
    expect(raiseByRetryAfter(4000, 9e9, DEFAULT_LIMITS.backoff)).toBe(3_600_000)
  })
})
