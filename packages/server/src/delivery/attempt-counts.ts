import type { DeliveredAttempt } from './deliver-dependencies.ts'
import type { Outcome } from './outcome.ts'

/** What the deliveries of this process came to since it started. */
export interface AttemptCounts {
  readonly attempts: Readonly<Record<Outcome['kind'], number>>
  /** Messages whose way ended; those that are tried again are on it. */
  readonly messages: Readonly<Record<'acknowledged' | 'dead', number>>
}

/** Counts attempts. Those whose lane had another owner meanwhile were made, but moved no message. */
export function createAttemptCounter() {
  const attempts = { acknowledged: 0, refused: 0, timed_out: 0, unreachable: 0 } satisfies Record<
    Outcome['kind'],
    number
  >
  const messages = { acknowledged: 0, dead: 0 }
  return {
    count: ({ report, decision, isClaimStanding }: DeliveredAttempt): void => {
      attempts[report.outcome.kind] += 1
      if (!isClaimStanding) return
      messages.acknowledged += decision.acknowledged.length
      messages.dead += decision.buried.length
    },
    counts: (): AttemptCounts => ({ attempts: { ...attempts }, messages: { ...messages } }),
  }
}
