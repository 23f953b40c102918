import { expect, it } from 'vitest'
import { createAttemptCounter } from './attempt-counts.ts'
import type { DeliveredAttempt } from './deliver-dependencies.ts'

function attempt(kind: 'acknowledged' | 'timed_out', acknowledged: number, buried: number): DeliveredAttempt {
  return {
    report: { outcome: { kind } },
    decision: { acknowledged: Array.from({ length: acknowledged }), buried: Array.from({ length: buried }) },
    isClaimStanding: true,
  } as unknown as DeliveredAttempt
}

it('counts attempts by outcome, and messages by how their way ended', () => {
  const { count, counts } = createAttemptCounter()
  count(attempt('acknowledged', 3, 0))
  count(attempt('timed_out', 0, 0))
  count(attempt('timed_out', 0, 2))
  // Another process has the lane, and will send the messages again.
  count({ ...attempt('acknowledged', 3, 0), isClaimStanding: false })
  expect(counts()).toEqual({
    attempts: { acknowledged: 2, refused: 0, timed_out: 2, unreachable: 0 },
    messages: { acknowledged: 3, dead: 2 },
  })
})
