import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender } from './contender.ts'
import { feed } from './feed.ts'
import { messageFor } from './messages.ts'
import { inArena, type Arena } from './open-loop.ts'
import { nowMs } from './sink.ts'

/** How a receiver is met that comes back. */
export interface OutageResult {
  /** Calls a second while all was well. */
  readonly steadyCalls: number
  /** How long the receiver was away, in seconds: longer than asked for if the last messages were stored late. */
  readonly awaySeconds: number
  /** Calls in all while the receiver was away. */
  readonly callsWhileAway: number
  /** Messages in the first, second and further calls of a channel after the return, the largest of all channels. */
  readonly firstBatches: readonly number[]
  /** The most calls and messages in a second after the return. */
  readonly callsAfter: number
  readonly messagesAfter: number
  /** From the return of the receiver until the first call, in seconds; null if none came. */
  readonly returnSeconds: number | null
  /** From the return until everything had arrived, in seconds; null if something did not within {@link patienceMs}. */
  readonly recoverySeconds: number | null
  /** Messages that had been stored and did not arrive. */
  readonly missing: number
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
    await sink.behave({ isDown: true })
    const awayAt = nowMs()
    const before = await sink.report()
    const firstN = perSecond * STEADY_SECONDS
    await gather(enqueue, { firstN, waiting, seconds })
    await sleep(Math.max(0, awayAt + seconds * 1000 - nowMs()))
    const { refused } = await sink.report()
    await sink.reset()
    const backAt = nowMs()
    await sink.behave({})
    // What a contender still had of the steady messages waits with the others.
    const wanted = steady.accepted.length - before.distinct + waiting
    for (;;) {
      const report = await sink.report()
      const missing = Math.max(0, wanted - report.distinct)
      if (missing === 0 || nowMs() - backAt > patienceMs(seconds)) {
        return {
          steadyCalls: before.calls / STEADY_SECONDS,
          awaySeconds: (backAt - awayAt) / 1000,
          callsWhileAway: refused,
          firstBatches: report.firstBatches,
          callsAfter: Math.max(0, ...report.perSecond.map(([, count]) => count)),
          messagesAfter: Math.max(0, ...report.perSecond.map(([, , count]) => count)),
          returnSeconds: report.calls === 0 ? null : (report.firstAt - backAt) / 1000,
          recoverySeconds: missing > 0 ? null : (report.lastAt - backAt) / 1000,
          missing,
          repeated: report.messages - report.distinct,
        }
      }
      await sleep(100)
    }
  })
}

/** Messages come in blocks over the whole outage: one that fails soon after it came has waited less than one that came first. */
async function gather(
  enqueue: Arena['enqueue'],
  {
    firstN,
    waiting,
    seconds,
  }: { readonly firstN: number; readonly waiting: number; readonly seconds: number },
): Promise<void> {
  const startedAt = performance.now()
  for (let stored = 0; stored < waiting; stored += FEED_MESSAGES) {
    const dueAt = startedAt + (stored / waiting) * seconds * 1000
    await sleep(Math.max(0, dueAt - performance.now()))
    const count = Math.min(FEED_MESSAGES, waiting - stored)
    const n = firstN + stored
    await enqueue(Array.from({ length: count }, (_, index) => messageFor(index % CHANNELS, n + index)))
  }
}
