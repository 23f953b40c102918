import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender } from './contender.ts'
import { feed } from './feed.ts'
import { messageFor } from './messages.ts'
import { inArena } from './open-loop.ts'
import { nowMs } from './sink.ts'

/** How a receiver is met that comes back. */
export interface OutageResult {
  /** Calls a second while all was well, and calls in all while the receiver was away. */
  readonly steadyCalls: number
  readonly callsWhileAway: number
  /** Messages in the first, second and further calls of a channel after the return, the largest of all channels. */
  readonly firstBatches: readonly number[]
  /** The most calls and messages in a second after the return. */
  readonly callsAfter: number
  readonly messagesAfter: number
  /** From the return of the receiver until the first call, and until everything had arrived, in seconds. */
  readonly returnSeconds: number
  readonly recoverySeconds: number
  readonly repeated: number
}

const CHANNELS = 10
const STEADY_SECONDS = 5
const FEED_MESSAGES = 1000
/** After the return; a channel may wait as long again as the receiver was away, and twice that. */
const patienceMs = (seconds: number) => Math.max(240_000, seconds * 2000)

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
    const { refused } = await sink.report()
    await sink.reset()
    await sink.behave({})
    const backAt = nowMs()
    const wanted = n - steady.accepted.length
    for (;;) {
      const report = await sink.report()
      const isOver = nowMs() - backAt > patienceMs(seconds)
      if (report.distinct >= wanted || isOver) {
        return {
          steadyCalls: calls / STEADY_SECONDS,
          callsWhileAway: refused,
          firstBatches: report.firstBatches,
          callsAfter: Math.max(...report.perSecond.map(([, count]) => count)),
          messagesAfter: Math.max(...report.perSecond.map(([, , count]) => count)),
          returnSeconds: (report.firstAt - backAt) / 1000,
          recoverySeconds: isOver ? Number.POSITIVE_INFINITY : (nowMs() - backAt) / 1000,
          repeated: report.messages - report.distinct,
        }
      }
      await sleep(100)
    }
  })
}
