import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'pg'
import type { Contender, Outgoing } from './contender.ts'
import { feed } from './feed.ts'
import { startServer, type QueueServer } from './servers.ts'
import { startSink, nowMs, type Sink } from './sink.ts'
import { startWorker, type WorkerProcess } from './worker.ts'

/** What a scenario needs: everything runs, nothing is queued. */
export interface Arena {
  readonly sink: Sink
  readonly server: QueueServer
  readonly urls: readonly string[]
  worker: WorkerProcess
  enqueue(messages: readonly Outgoing[]): Promise<void>
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

/** Latencies from enqueueing to arrival at the receiver, in milliseconds. */
export interface Latency {
  readonly p50: number
  readonly p99: number
  /** Of what arrived in the first and in the last tenth of the run. */
  readonly p99First: number
  readonly p99Last: number
  /** Of the messages that should have come. */
  readonly deliveredShare: number
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
): Promise<Latency> {
  const { channels, perSecond, seconds, sinkLatencyMs = 0, hanging = 0, isPinned = false } = options
  return inArena(contender, channels, async ({ sink, enqueue, server }) => {
    const pin = isPinned ? await pinSnapshot(server.location) : null
    await sink.behave({
      latencyMs: sinkLatencyMs,
      hanging: Array.from({ length: hanging }, (_, index) => index),
    })
    await feed(enqueue, { perSecond, seconds: WARM_UP_SECONDS, channels, firstN: 0 })
    await sink.reset(nowMs())
    const firstN = WARM_UP_SECONDS * perSecond
    await feed(enqueue, { perSecond, seconds, channels, firstN })
    await sleep(SETTLE_MS)
    const { latenciesMs } = await sink.report(true)
    await pin?.()
    const wanted = perSecond * seconds * (1 - hanging / channels)
    return { ...percentiles(latenciesMs), deliveredShare: Math.min(1, latenciesMs.length / wanted) }
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

function percentiles(inOrder: readonly number[]): Omit<Latency, 'deliveredShare'> {
  const tenth = Math.ceil(inOrder.length / 10)
  return {
    p50: percentile(inOrder, 0.5),
    p99: percentile(inOrder, 0.99),
    p99First: percentile(inOrder.slice(0, tenth), 0.99),
    p99Last: percentile(inOrder.slice(-tenth), 0.99),
  }
}

function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).toSorted()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}
