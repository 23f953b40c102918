import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { CLICKBENCH } from '../../packages/server/test/sql/foreign-statements.ts'
import { summarise } from '../latency.ts'
import type { Client, Timing } from './client.ts'
import type { FilledTables } from './fill-tables.ts'

/** What a measurement works with. */
export interface SqlBench extends FilledTables {
  readonly client: Client
  readonly rounds: number
  readonly rows: number
  readonly servicePid: number
  show(line: string): void
}

/** As many statements as it takes until neither side gets faster: what is measured is a service that runs, not one that starts. */
const WARM_UP_ROUNDS = { small: 100, large: 10 } as const
const PAGES = 300
const HEAVY = 'select sum(sipHash64(number)) from numbers(30000000)'
const HEAVY_COUNT = 50
const NO_CACHE = { noCache: true }

/** The measurements by their names. */
export const MEASUREMENTS: Readonly<Record<string, (bench: SqlBench) => Promise<void>>> = {
  small,
  large,
  pages,
  clickbench,
  fairness,
  memory,
}

function first({ client, path }: SqlBench, sql: string, size = 1000): Promise<Timing> {
  return client.api(`${path}/execute`, { sqlQuery: { sql, size }, cachePolicy: NO_CACHE })
}

/** Both ways by turns; medians in milliseconds. */
async function compare(
  bench: SqlBench,
  name: string,
  statement: (round: number) => string,
  size?: number,
): Promise<{ readonly api: number; readonly engine: number }> {
  const [viaApi, viaEngine]: [number[], number[]] = [[], []]
  const warmUp = WARM_UP_ROUNDS[size === undefined ? 'small' : 'large']
  for (let round = -warmUp; round < bench.rounds; round++) {
    const api = await first(bench, statement(round), size)
    const engine = await bench.client.engine(statement(round + 10_000), bench.database)
    if (round < 0) continue
    viaApi.push(api.ms)
    viaEngine.push(engine.ms)
  }
  const [api, engine] = [summarise(viaApi).medianMs, summarise(viaEngine).medianMs]
  bench.show(
    `${name}: API ${api.toFixed(1)} ms, engine ${engine.toFixed(1)} ms: ${(api - engine).toFixed(1)} ms more, ${(api / engine).toFixed(2)} times`,
  )
  return { api, engine }
}

/** Small results: what comes on top of the engine, for statements that came before and for ones that never did. */
async function small(bench: SqlBench): Promise<void> {
  await compare(bench, 'one row, asked before', () => 'select 1')
  await compare(bench, 'one row, another value each time', (round) => `select ${round}`)
  await compare(bench, 'one row, a new form each time', (round) => `select 1 as c${round + 1000}`)
  await compare(bench, '1000 rows, asked before', () => 'select * from Transfer limit 1000')
  await compare(
    bench,
    '1000 rows, another value each time',
    (round) => `select * from Transfer limit 1000 offset ${round + 10}`,
  )
  await compare(
    bench,
    'ten groups, asked before',
    () => 'select log_index % 10 as k, count(), sum(price) from Transfer group by k',
  )
}

/** Large results in one page. */
async function large(bench: SqlBench): Promise<void> {
  await compare(
    bench,
    '100 000 rows of 3 columns',
    () => 'select timestamp, block_number, price from Transfer limit 100000',
    100_000,
  )
  await compare(
    bench,
    '100 000 rows of 5 columns',
    () => 'select timestamp, block_number, log_index, amount, sender from Transfer limit 100000',
    100_000,
  )
  await compare(
    bench,
    '200 000 rows of 2 columns',
    () => 'select block_number, log_index from Transfer limit 200000',
    200_000,
  )
}

/** Pages of a kept result. */
async function pages(bench: SqlBench): Promise<void> {
  const { client, path, show } = bench
  let cursor = cursorOf(
    await keep(bench, 'select timestamp, block_number, sender, amount, price from Transfer'),
  )
  const durations: number[] = []
  for (let page = 0; page < PAGES; page++) {
    const answer = await client.api(`${path}/execute`, { cursor })
    durations.push(answer.ms)
    cursor = cursorOf(answer) || cursor
  }
  const { medianMs, p99Ms } = summarise(durations)
  show(`a page of 1000 rows by cursor: p50 ${medianMs.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`)
}

/** Every query of ClickBench; the sum of the medians. */
async function clickbench(bench: SqlBench): Promise<void> {
  let [viaApi, viaEngine] = [0, 0]
  for (const [n, sql] of CLICKBENCH.entries()) {
    const [api, engine]: [number[], number[]] = [[], []]
    for (let round = -1; round < Math.min(3, bench.rounds); round++) {
      // By turns also in which way comes first: the second finds the caches warm.
      const ways = [
        async () => api.push((await first(bench, sql)).ms),
        async () => engine.push((await bench.client.engine(sql, bench.database)).ms),
      ]
      for (const way of round % 2 === 0 ? ways : ways.toReversed()) await way()
      if (round < 0) [api.length, engine.length] = [0, 0]
    }
    viaApi += summarise(api).medianMs
    viaEngine += summarise(engine).medianMs
    bench.show(
      `  query ${n}: API ${summarise(api).medianMs.toFixed(0)} ms, engine ${summarise(engine).medianMs.toFixed(0)} ms`,
    )
  }
  bench.show(
    `${CLICKBENCH.length} queries over ${bench.rows} rows: API ${viaApi.toFixed(0)} ms, engine ${viaEngine.toFixed(0)} ms, ${(viaApi / viaEngine).toFixed(3)} times`,
  )
}

/** A light statement of one project, alone and beside the heavy ones of another. */
async function fairness(bench: SqlBench): Promise<void> {
  const { client, otherPath, show } = bench
  const light = async (): Promise<number> =>
    (
      await client.api(`${otherPath}/execute`, {
        sqlQuery: { sql: 'select count() from Small' },
        cachePolicy: NO_CACHE,
      })
    ).ms
  const alone: number[] = []
  for (let n = 0; n < 100; n++) alone.push(await light())
  const heavy = Promise.all(Array.from({ length: HEAVY_COUNT }, () => first(bench, HEAVY)))
  const state = { isOver: false }
  heavy.finally(() => (state.isOver = true)).catch(() => undefined)
  const beside: number[] = []
  while (!state.isOver) beside.push(await light())
  await heavy
  for (const [name, durations] of [
    ['alone', alone],
    [`beside ${HEAVY_COUNT} heavy ones of another project`, beside],
  ] as const) {
    const { medianMs, p99Ms, maxMs } = summarise(durations)
    show(
      `a light statement ${name}: p50 ${medianMs.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, longest ${maxMs.toFixed(1)} ms (${durations.length} times)`,
    )
  }
}

/** What a result of ten million rows costs the service in memory while it is spooled. */
async function memory(bench: SqlBench): Promise<void> {
  const { servicePid, show } = bench
  await first(bench, 'select number from numbers(200000)')
  const before = await residentBytes(servicePid)
  let highest = before
  const watch = setInterval(
    () => void residentBytes(servicePid).then((now) => (highest = Math.max(highest, now))),
    50,
  )
  const startedAt = performance.now()
  await keep(bench, 'select number as n, number * 3 as m, toString(number) as s from numbers(10000000)')
  clearInterval(watch)
  show(
    `10 million rows kept in ${((performance.now() - startedAt) / 1000).toFixed(1)} s: ${Math.round((highest - before) / 2 ** 20)} MiB more memory of the service`,
  )
}

/** Keeps the whole result of a statement; gives its first page. */
async function keep({ client, path }: SqlBench, sql: string): Promise<Timing> {
  const { tail } = await client.api(`${path}/execute/async`, { sqlQuery: { sql } })
  const id = /"executionId":"([^"]+)"/.exec(tail)?.[1] ?? ''
  for (;;) {
    const answer = await client.api(`${path}/query_result/${id}`, null)
    if (answer.tail.includes('"cursor"')) return answer
    if (answer.tail.includes('KILLED')) throw new Error(answer.tail)
    await setTimeout(100)
  }
}

function cursorOf({ tail }: Timing): string {
  return /"cursor":"([\w-]+)"/.exec(tail)?.[1] ?? ''
}

async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
}
