import { setTimeout as sleep } from 'node:timers/promises'
import { watchDisturbance, type Disturbance } from '../disturbance/disturbance.ts'
import type { Contender } from './contender.ts'
import { messageFor } from './messages.ts'
import { startServer } from './servers.ts'
import { startSink } from './sink.ts'
import { startWorker } from './worker.ts'

/** What emptying a full queue came to. */
export interface DrainResult {
  readonly perSecond: number
  readonly rssBytes: number
  readonly cpuMicrosPerMessage: number
  readonly statementsPerMessage: number | null
  readonly repeated: number
  readonly feedPerSecond: number
  readonly disturbance: Disturbance
}

const FEED_MESSAGES = 1000
/** Blocks that are enqueued at once: nobody has to wait for the disk alone. */
const FEED_UNDER_WAY = 8
const PATIENCE_MS = 30_000

/** Fills the queue while no worker runs, then measures how fast one empties it; the receiver answers at once. */
export async function drain(
  contender: Contender,
  { messages, channels, progress }: { messages: number; channels: number; progress(text: string): void },
): Promise<DrainResult> {
  const server = await startServer(contender.server)
  const sink = await startSink()
  try {
    // Numbers of arrivals are enough: the arrivals of a million messages take memory.
    await sink.reset(Number.POSITIVE_INFINITY)
    const urls = sink.urls(channels)
    const feeder = await contender.open(server.location, urls)
    const fedAt = performance.now()
    let next = 0
    await Promise.all(Array.from({ length: FEED_UNDER_WAY }, fillQueue))
    const feedPerSecond = messages / ((performance.now() - fedAt) / 1000)
    const before = await feeder.statements()
    const endWatch = await watchDisturbance()
    const worker = await startWorker(contender.name, server.location, urls)
    const { rssBytes, cpuSeconds, report } = await untilDrained(messages)
    const disturbance = await endWatch()
    const statements = await feeder.statements()
    await worker.stop()
    await feeder.close()
    return {
      perSecond: messages / ((report.lastAt - report.firstAt) / 1000),
      rssBytes,
      cpuMicrosPerMessage: (cpuSeconds * 1e6) / messages,
      statementsPerMessage: statements === null || before === null ? null : (statements - before) / messages,
      repeated: report.messages - report.distinct,
      feedPerSecond,
      disturbance,
    }

    async function fillQueue(): Promise<void> {
      while (next < messages) {
        const n = next
        next += FEED_MESSAGES
        const count = Math.min(FEED_MESSAGES, messages - n)
        // A block belongs to one channel, as when a contract is watched by one; the next to the next.
        const channel = (n / FEED_MESSAGES) % channels
        await feeder.enqueue(Array.from({ length: count }, (_, index) => messageFor(channel, n + index)))
        progress(`${contender.name}: ${n + count} of ${messages} enqueued`)
      }
    }

    async function untilDrained(wanted: number) {
      let largest = 0
      let last = { distinct: -1, at: performance.now() }
      for (;;) {
        await sleep(200)
        const report = await sink.report()
        const { rssBytes, cpuSeconds } = await worker.usage()
        largest = Math.max(largest, rssBytes)
        progress(`${contender.name}: ${report.distinct} of ${wanted} delivered`)
        if (report.distinct >= wanted) return { rssBytes: largest, cpuSeconds, report }
        if (report.distinct > last.distinct) last = { distinct: report.distinct, at: performance.now() }
        else if (performance.now() - last.at > PATIENCE_MS) {
          throw new Error(`${contender.name} stopped at ${report.distinct} of ${wanted} messages`)
        }
      }
    }
  } finally {
    await sink.close()
    await server.stop()
  }
}
