import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { summarise, timeOnce, type Latency } from '../latency.ts'
import { startService } from '../service.ts'
import { millrace, type System } from './ask-systems.ts'
import { BENCH_QUERIES, type BenchQuery } from './queries.ts'

const SECONDS = 10
const ALONE_ROUNDS = 40
const REST_MS = 20
/** One that takes long to compute, and one whose answer takes long to write: three megabytes. */
const LONG = ['Q8', 'Q1']
const SHORT = 'Q9'

/** How long a small question waits while a large one is asked over and over, and what held the event loop of the service. */
interface Waiting {
  readonly beside: string
  readonly wait: Latency
  readonly eventLoop: { readonly medianMs: number; readonly p99Ms: number; readonly maxMs: number }
  /** What this process itself was late is no fault of the service's. */
  readonly ownDelayMs: number
}

/** Measures the wait of small questions alone and beside large ones, on a service of its own. */
export async function measureWaiting(
  dataDirectory: string,
): Promise<{ readonly alone: Latency; readonly beside: readonly Waiting[] }> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const file = join(directory, 'event-loop.json')
  const service = await startService(dataDirectory, {
    NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'event-loop-probe.ts')).href}`,
    BENCH_EVENT_LOOP_FILE: file,
  })
  const system = millrace(service)
  const short = queryOf(SHORT)
  /** What held the event loop since the last time. */
  async function readDelay(): Promise<Waiting['eventLoop']> {
    rmSync(file, { force: true })
    process.kill(service.pid, 'SIGUSR2')
    for (;;) {
      await sleep(REST_MS)
      try {
        return JSON.parse(readFileSync(file, 'utf8')) as Waiting['eventLoop']
      } catch {
        // Not written yet.
      }
    }
  }

  try {
    const alone: number[] = []
    for (const start of [SHORT, ...LONG]) await system.ask(queryOf(start))
    for (let i = 0; i < ALONE_ROUNDS; i += 1) alone.push(await timeOnce(() => system.ask(short)))
    const beside: Waiting[] = []
    for (const start of LONG) {
      const long = queryOf(start)
      // What runs for the first time is compiled first.
      for (let i = 0; i < 3; i += 1) await system.ask(long)
      await readDelay()
      const { wait, ownDelayMs } = await waitBeside(system, long, short)
      beside.push({ beside: long.name, wait, ownDelayMs, eventLoop: await readDelay() })
    }
    return { alone: summarise(alone.slice(ALONE_ROUNDS / 2)), beside }
  } finally {
    await service.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function waitBeside(
  system: System,
  long: BenchQuery,
  short: BenchQuery,
): Promise<Pick<Waiting, 'wait' | 'ownDelayMs'>> {
  const waits: number[] = []
  const over = new AbortController()
  const asking = (async () => {
    while (!over.signal.aborted) await system.ask(long)
  })()
  const own = monitorEventLoopDelay({ resolution: 1 })
  own.enable()
  const until = performance.now() + SECONDS * 1000
  while (performance.now() < until) {
    waits.push(await timeOnce(() => system.ask(short)))
    await sleep(REST_MS)
  }
  own.disable()
  over.abort()
  await asking
  return { wait: summarise(waits), ownDelayMs: Math.round(own.max / 1e5) / 10 }
}

function queryOf(start: string): BenchQuery {
  const found = BENCH_QUERIES.find(({ name }) => name.startsWith(`${start} `))
  if (!found) throw new Error(`no query ${start}`)
  return found
}
