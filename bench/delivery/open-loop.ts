import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import { watchDisturbance, type Disturbance } from '../disturbance/disturbance.ts'
import type { Contender, Outgoing } from './contender.ts'
import { feed } from './feed.ts'
import { startServer, type QueueServer } from './servers.ts'
import { firstArrivals, latencyOf, type Latency } from './stages.ts'
import { startSink, nowMs, type Sink } from './sink.ts'
import { startWorker, type WorkerProcess } from './worker.ts'

/** What a scenario needs: everything runs, nothing is queued. */
export interface Arena {
  readonly sink: Sink
  readonly server: QueueServer
  readonly urls: readonly string[]
  worker: WorkerProcess
  enqueue(messages: readonly Outgoing[]): Promise<void>
  /** As {@link Feeder.statements}. */
  statements(): Promise<number | null>
  restartWorker(): Promise<void>
}

/** Starts server, receiver and worker of a contender, runs, and ends them. */
export async function inArena<T>(
  contender: Contender,
  channels: number,
  run: (arena: Arena) => Promise<T>,
): Promise<T> {
  const server = await startServer(contender.server)
  const sink = await startSink()
  const urls = sink.urls(channels)
  const feeder = await contender.open(server.location, urls)
  const start = () => startWorker(contender.name, server.location, urls)
  const arena: Arena = {
    sink,
    server,
    urls,
    worker: await start(),
    // Queue and worker are one process where the queue is embedded.
    enqueue: (messages) =>
      contender.server === 'none' ? arena.worker.enqueue(messages) : feeder.enqueue(messages),
    statements: () => feeder.statements(),
    async restartWorker() {
      arena.worker = await start()
    },
  }
  try {
    return await run(arena)
  } finally {
    await arena.worker.kill()
    await sink.close()
    await Promise.race([feeder.close().catch(() => undefined), sleep(3000)])
    await server.stop()
  }
}

/** What messages at a rate came to. */
export interface OpenLoopResult extends Latency {
  /** Messages that the queue did not take, and why not. */
  readonly refused: number
  readonly refusal: string | null
  /** Of the messages that should have come. */
  readonly deliveredShare: number
  /** Messages that arrived in a second, also those that were enqueued before what is measured; of healthy channels. */
  readonly arrivedPerSecond: number
  readonly rssBytes: number
  /** Of the worker; of sender and worker where they are one process. */
  readonly cpuMicrosPerMessage: number
  /** Of sender and worker; null where there is no server to ask. */
  readonly statementsPerMessage: number | null
  readonly disturbance: Disturbance
}

const WARM_UP_SECONDS = 2
const SETTLE_MS = 1500

/** Messages at a rate; what hangs is left out of the figures, and so are the first seconds. */
export async function openLoop(
  contender: Contender,
  options: {
    readonly channels: number
    readonly perSecond: number
    readonly seconds: number
    readonly sinkLatencyMs?: number
    /** Channels that never answer; they are the first ones. */
    readonly hanging?: number
    /** Keeps a snapshot open in PostgreSQL, as a long report does. */
    readonly isPinned?: boolean
  },
): Promise<OpenLoopResult> {
  const { channels, perSecond, seconds, sinkLatencyMs = 0, hanging = 0, isPinned = false } = options
  return inArena(contender, channels, async ({ sink, enqueue, statements, server, worker }) => {
    const pin = isPinned ? await pinSnapshot(server.location) : null
    await sink.behave({
      latencyMs: sinkLatencyMs,
      hanging: Array.from({ length: hanging }, (_, index) => index),
    })
    await feed(enqueue, { perSecond, seconds: WARM_UP_SECONDS, channels, firstN: 0 })
    await sink.reset(nowMs())
    const before = { statements: await statements(), ...(await worker.usage()) }
    const endWatch = await watchDisturbance()
    const firstN = WARM_UP_SECONDS * perSecond
    const { storedAt, refused, refusal } = await feed(enqueue, { perSecond, seconds, channels, firstN })
    await sleep(SETTLE_MS)
    const disturbance = await endWatch()
    const { arrivals: all, distinct, firstAt, lastAt } = await sink.report(true)
    const arrivals = firstArrivals(all)
    const after = { statements: await statements(), ...(await worker.usage()) }
    await pin?.()
    const count = perSecond * seconds
    const wanted = count * (1 - hanging / channels)
    return {
      ...latencyOf(arrivals, storedAt),
      refused,
      refusal,
      deliveredShare: Math.min(1, arrivals.length / wanted),
      arrivedPerSecond: lastAt > firstAt ? (distinct * 1000) / (lastAt - firstAt) : 0,
      rssBytes: after.rssBytes,
      cpuMicrosPerMessage: ((after.cpuSeconds - before.cpuSeconds) * 1e6) / count,
      statementsPerMessage:
        after.statements === null || before.statements === null
          ? null
          : (after.statements - before.statements) / count,
      disturbance,
    }
  })
}

async function pinSnapshot(location: string): Promise<() => Promise<void>> {
  const pool = new Pool({ connectionString: location, max: 1 })
  const client = await pool.connect()
  client.on('error', () => {})
  await client.query('begin isolation level repeatable read')
  await client.query('select count(*) from pg_class')
  return async () => {
    client.release()
    await pool.end()
  }
}
