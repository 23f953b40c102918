import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender } from './contender.ts'
import { feed } from './feed.ts'
import { messageFor } from './messages.ts'
import { inArena } from './open-loop.ts'

/** How a receiver is met that comes back. */
export interface OutageResult {
  /** Calls a second: while all was well, the most while the receiver was away, and the most in the second after. */
  readonly steadyCalls: number
  readonly callsAfter: number
  /** From the return of the receiver until everything had arrived, in seconds. */
  readonly recoverySeconds: number
  readonly repeated: number
}

const CHANNELS = 10
const STEADY_SECONDS = 5
const FEED_MESSAGES = 1000

/** The receiver refuses everything for a while, messages gather, it comes back. */
export async function outage(
  contender: Contender,
  { seconds, waiting, perSecond }: { seconds: number; waiting: number; perSecond: number },
): Promise<OutageResult> {
  return inArena(contender, CHANNELS, async ({ sink, enqueue }) => {
    const steady = await feed(enqueue, { perSecond, seconds: STEADY_SECONDS, channels: CHANNELS, firstN: 0 })
    await sleep(500)
    const { calls } = await sink.report()
    await sink.behave({ isDown: true })
    let n = perSecond * STEADY_SECONDS
    const until = performance.now() + seconds * 1000
    for (const end = n + waiting; n < end; n += FEED_MESSAGES) {
      await enqueue(
        Array.from({ length: FEED_MESSAGES }, (_, index) => messageFor(index % CHANNELS, n + index)),
      )
    }
    await sleep(Math.max(0, until - performance.now()))
    await sink.reset()
    await sink.behave({})
    const backAt = performance.now()
    const wanted = n - steady.accepted.length
    for (;;) {
      const report = await sink.report()
      const isOver = performance.now() - backAt > 240_000
      if (report.distinct >= wanted || isOver) {
        return {
          steadyCalls: calls / STEADY_SECONDS,
          callsAfter: Math.max(...report.callsPerSecond.map(([, count]) => count)),
          recoverySeconds: isOver ? Number.POSITIVE_INFINITY : (performance.now() - backAt) / 1000,
          repeated: report.messages - report.distinct,
        }
      }
      await sleep(100)
    }
  })
}
