import type { AlertStore } from '../delivery/alert.ts'
import type { DeadLetterStore } from '../delivery/dead-letter.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { Chore } from './housekeeper.ts'

export interface DeliveryChoresDependencies {
  readonly letters: DeadLetterStore
  readonly alerts: AlertStore
  /** Removes what is past its retention; answers how many rows. */
  expire(signal: AbortSignal): Promise<number>
  readonly clock: Clock
  /** Told when messages may have become deliverable. */
  wake(): void
  readonly log: Logger
}

/** Messages of a channel that a redrive puts into its queue a second, and that may wait there meanwhile (DD-4). */
const REDRIVE_MESSAGES = 1000

/** What delivery does in the background besides delivering: expire, redrive, tell of failures (DL-12). */
export function createDeliveryChores(dependencies: DeliveryChoresDependencies): readonly Chore[] {
  const { letters, alerts, expire, clock, wake, log } = dependencies
  return [
    { name: 'expire delivery history', everyMs: 60_000, run: expire },
    {
      name: 'redrive dead letters',
      everyMs: 1000,
      async run() {
        const moved = await letters.redrive(REDRIVE_MESSAGES, clock.now())
        if (moved > 0) wake()
        return moved
      },
    },
    {
      name: 'tell of failing channels',
      everyMs: 10_000,
      async run() {
        const taken = await alerts.take(clock.now())
        for (const { level, ...alert } of taken) {
          if (level === 'none') log.info(alert, 'delivery.channel_recovered')
          else log.warn({ ...alert, level }, 'delivery.channel_failing')
        }
        if (taken.length > 0) wake()
        return 0
      },
    },
  ]
}
