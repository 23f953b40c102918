import { expect, it } from 'vitest'
import { DEFAULT_LIMITS } from './channel.ts'
import { decideBeside, type Beside } from './decide-beside.ts'
import type { EndedAttempt } from './decide.ts'

const FAILED = { failures: 1, failingSinceAt: 900, refusals: 0, batchLimit: null, cursorSeq: 0 }
/** Another request has failed meanwhile, and left what begins with 3. */
const BESIDE_FAILURE: Beside = { firstElsewhere: 3, readSeq: 6, waitsUntilAt: 2000 }

/** A message on its own schedule, answered beside requests of its lane. */
function shelvedAnswered(status: number): EndedAttempt {
  return {
    outcome:
      status < 210 ? { kind: 'acknowledged', status } : { kind: 'refused', status, retryAfterMs: null },
    durationMs: 1,
    timeoutMs: 5000,
    messages: [
      {
        seq: 1,
        eventId: 1,
        version: 1,
        chain: '1',
        blockNumber: 1,
        hash: 'hash',
        body: Buffer.from('{}'),
        enqueuedAt: 0,
        tries: 3,
      },
    ],
    isShelved: true,
    lane: FAILED,
    limits: DEFAULT_LIMITS,
    agesFromAt: 0,
    nowMs: 1000,
    random: 0,
  }
}

it('lets no shelved message that is acknowledged beside a failure make up for it (DL-3)', () => {
  const { decision, nextAttemptAt } = decideBeside(shelvedAnswered(200), BESIDE_FAILURE)
  expect(decision.acknowledged).toHaveLength(1)
  expect([decision.lane, nextAttemptAt]).toEqual([{ ...FAILED, cursorSeq: 2 }, 2000])
})

it('counts one failure of a lane where a shelved message fails beside another request (DL-3)', () => {
  const { decision, nextAttemptAt } = decideBeside(shelvedAnswered(503), BESIDE_FAILURE)
  expect([decision.lane.failures, nextAttemptAt]).toEqual([1, 2000])
})

it('gives a shelved message that is refused beside a failure its next time (DL-4)', () => {
  const { decision } = decideBeside(shelvedAnswered(400), BESIDE_FAILURE)
  expect(decision.shelved).toMatchObject([{ seq: 1, tries: 4 }])
  expect(decision.lane).toEqual({ ...FAILED, cursorSeq: 2 })
})
