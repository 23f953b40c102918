/**
 * Times the SQL API, over HTTP, against the same statements sent straight to the engine, by turns:
 * `node packages/server/test/sql/bench.ts [rounds]`. Prints medians in milliseconds and the load of the machine.
 */
import { loadavg } from 'node:os'
import process from 'node:process'
import { sqlExecuteRoute } from '../../src/http/routes/sql-execute.ts'
import { buildApp } from '../../src/http/app.ts'
import { versionDatabases } from '../../src/clickhouse/layout.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { openSqlite } from '../support/databases.ts'
import { startTestEngine } from '../support/fact-engine.ts'
import { createSqlFixture, fillProject, sqlProject } from './sql-fixture.ts'

const ROUNDS = Number(process.argv[2] ?? 15)
const STATEMENTS = {
  'one row': ['select 1', 1000],
  '1000 rows of a table': ['select * from Transfer', 1000],
  '100 000 rows in one page': [
    `select number as n, toString(number) as s, toUInt256(number) * 1000000007 as w, now() as t from numbers(100000)`,
    100_000,
  ],
  'first 1000 of 1 000 000 rows': [`select number as n, toString(number) as s from numbers(1000000)`, 1000],
} as const

const test = await startTestEngine({ poolSize: 8 })
const database = await openSqlite()
const [project, other] = [sqlProject(951), sqlProject(952)]
await fillProject(test.engine, project)
await fillProject(test.engine, other)
const { analytics } = await createSqlFixture(test.engine, database, project, { clock: systemClock })

const app = await buildApp({
  log: silentLogger,
  bodyLimitBytes: 1_000_000,
  routes: [sqlExecuteRoute({ analytics })],
  access: {
    check: (wish) => Promise.resolve({ key: null, project: wish.project?.name === 'p952' ? other : project }),
  },
  checkReady: () => Promise.resolve(),
})
const url = await app.listen({ port: 0, host: '127.0.0.1' })

async function ask(body: object, name = 'p951'): Promise<{ cursor?: string }> {
  const path = `${url}/api/v1/analytics/demo/${name}/sql/execute`
  const answer = await fetch(path, {
    method: 'POST',
    body: JSON.stringify({ ...body, cachePolicy: { noCache: true } }),
    headers: { 'accept-encoding': 'identity' },
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return { cursor: /"cursor":"([\w-]*)"/.exec(text.slice(-1000))?.[1] ?? '' }
}

async function direct(sql: string): Promise<void> {
  const settings = { readonly: 1, max_block_size: 16_384, date_time_output_format: 'iso' }
  const { user } = versionDatabases(project.id, 1)
  const options = { database: user, settings, timeoutMs: 60_000 }
  for await (const _ of await test.engine.stream(sql, 'JSONCompactEachRowWithNamesAndTypes', options));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function rank(durations: readonly number[], share: number): string {
  const sorted = durations.toSorted((a, b) => a - b)
  return (sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN).toFixed(1)
}

function show(line: string): void {
  process.stdout.write(`${line}\n`)
}

for (const [name, [sql, size]] of Object.entries(STATEMENTS)) {
  const [api, engine]: [number[], number[]] = [[], []]
  for (let round = -2; round < ROUNDS; round++) {
    const one = await timed(() => ask({ sqlQuery: { sql, size } }))
    await analytics.settled()
    const two = await timed(() => direct(sql))
    if (round >= 0) {
      api.push(one)
      engine.push(two)
    }
  }
  show(`${name}: API ${rank(api, 0.5)} ms, engine alone ${rank(engine, 0.5)} ms`)
}

const pages: number[] = []
let { cursor } = await ask({
  sqlQuery: { sql: 'select number as n, toString(number) as s from numbers(1000000)' },
})
await analytics.settled()
for (let page = 0; page < 200; page++) {
  pages.push(await timed(async () => ({ cursor } = await ask({ cursor: cursor ?? '' }))))
}
show(`page of 1000 rows by cursor: p50 ${rank(pages, 0.5)} ms, p99 ${rank(pages, 0.99)} ms`)

const before = process.memoryUsage().rss
const ten = await ask({ sqlQuery: { sql: 'select number as n from numbers(10000000)', size: 1000 } })
let highest = 0
const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 20)
await analytics.settled()
clearInterval(watch)
show(
  `10 million rows spooled: ${ten.cursor === '' ? 'no' : 'a'} cursor, ${Math.round((highest - before) / 2 ** 20)} MiB more memory`,
)
const HEAVY = 'select sum(sipHash64(number)) from numbers(50000000)'
const alone: number[] = []
const beside: number[] = []
for (let n = 0; n < 50; n++)
  alone.push(await timed(() => ask({ sqlQuery: { sql: 'select count() from Transfer' } }, 'p952')))
const state = { isOver: false }
const heavy = Promise.all(Array.from({ length: 50 }, () => ask({ sqlQuery: { sql: HEAVY } }))).finally(
  () => (state.isOver = true),
)
while (!state.isOver && beside.length < 200) {
  beside.push(await timed(() => ask({ sqlQuery: { sql: 'select count() from Transfer' } }, 'p952')))
}
show(`a light statement alone: p50 ${rank(alone, 0.5)} ms, p99 ${rank(alone, 0.99)} ms`)
show(
  `beside 50 heavy ones of another project: p50 ${rank(beside, 0.5)} ms, p99 ${rank(beside, 0.99)} ms (${beside.length} calls)`,
)
await analytics.stop()
await heavy.catch(() => undefined)

show(
  `load ${loadavg()
    .map((each) => each.toFixed(1))
    .join(' ')}`,
)

await app.close()
await database.close()
await test.stop()
