import { request, type IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeAll, beforeEach, afterAll, expect, it } from 'vitest'
import type { Analytics } from '../../src/analytics/analytics.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { buildSqlApp, createSqlFixture, fillProject, sqlProject } from './sql-fixture.ts'

const project = sqlProject(961)
let test: TestEngine
let database: TestDatabase
let analytics: Analytics
let app: FastifyInstance
let url: string

beforeAll(async () => {
  test = await startTestEngine({ poolSize: 4 })
  await fillProject(test.engine, project)
})

beforeEach(async () => {
  database = await openSqlite()
  const limits = { pageBytesMax: 64 * 2 ** 20, rowsReadMax: 100_000_000_000 }
  analytics = (await createSqlFixture(test.engine, database, project, { clock: systemClock, limits }))
    .analytics
  app = await buildSqlApp(analytics, project)
  url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/api/v1/analytics/demo/p961/sql/execute`
})

afterEach(async () => {
  await app.close()
  await database.close()
})

afterAll(() => test.stop())

const UNCACHED = { noCache: true }
/** A statement that fails when millions of bytes of its rows are there. */
const FAILING = 'select number as n, throwIf(number = 900000) as ok from numbers(1000000)'

function post(payload: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-encoding': 'identity', ...headers },
    body: JSON.stringify(payload),
  })
}

/** Sends a statement and resolves with the beginning of its answer, of which nothing is read. */
function begin(payload: object): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: { 'content-type': 'application/json' } }, resolve)
    sent.on('error', reject)
    sent.end(JSON.stringify(payload))
  })
}

interface Answer {
  readonly result: {
    readonly columns: readonly string[]
    readonly rows: readonly { readonly n: number; readonly s?: string }[]
    readonly generatedAt: string
    readonly cursor: string
  }
  readonly computeStats: { readonly isCached: boolean; readonly rowsRead?: number }
  readonly cursor: string
}

function rowsIn(text: string): string {
  return text.slice(text.indexOf('"rows":['), text.indexOf('],"generatedAt"'))
}

it('sends a long page while its rows come, byte for byte those of the page that is sent whole (SQ-3, SQ-5)', async () => {
  const sql = `select number as n, repeat('é"\\n', 10) as s, [number] as list, null as nothing from numbers(40000)`
  const payload = { sqlQuery: { sql, size: 50_000 }, cachePolicy: UNCACHED }
  const growing = await post(payload)
  // Whoever knows an answer gets a whole one, as its tag says whether it is another one.
  const whole = await post(payload, { 'if-none-match': '"another"' })
  expect([growing.headers.get('content-length'), growing.headers.get('cache-control')]).toEqual([
    null,
    'no-store',
  ])
  expect(Number(whole.headers.get('content-length'))).toBeGreaterThan(1_000_000)
  const [text, other] = [await growing.text(), await whole.text()]
  const [answer, expected] = [JSON.parse(text) as Answer, JSON.parse(other) as Answer]
  expect(answer.result.rows).toHaveLength(40_000)
  expect(rowsIn(text) === rowsIn(other)).toBe(true)
  expect(Object.keys(answer).toSorted()).toEqual(Object.keys(expected).toSorted())
  expect({ ...answer.result, rows: [], generatedAt: '' }).toEqual({
    ...expected.result,
    rows: [],
    generatedAt: '',
  })
})

it('leads from a long page to the rows behind it (SQ-5, CU-1)', async () => {
  const sql = 'select number as n, toString(number) as s from numbers(150000)'
  let answer = (await (
    await post({ sqlQuery: { sql, size: 60_000 }, cachePolicy: UNCACHED })
  ).json()) as Answer
  const pages = [answer.result.rows]
  while (answer.result.cursor !== '') {
    expect(answer.cursor).toBe(answer.result.cursor)
    answer = (await (await post({ cursor: answer.result.cursor })).json()) as Answer
    pages.push(answer.result.rows)
  }
  expect(pages.map((rows) => rows.length)).toEqual([60_000, 60_000, 30_000])
  expect(pages.flat().findIndex(({ n }, place) => n !== place)).toBe(-1)
})

it('ends a page that has begun where its statement fails, with a cursor that says why (SQ-5, ER-4)', async () => {
  const response = await post({ sqlQuery: { sql: FAILING, size: 1_000_000 }, cachePolicy: UNCACHED })
  expect(response.status).toBe(200)
  const { result, computeStats } = (await response.json()) as Answer
  expect(result.rows.length).toBeGreaterThan(10_000)
  expect(result.rows.length).toBeLessThanOrEqual(900_000)
  expect(result.rows.findIndex(({ n }, place) => n !== place)).toBe(-1)
  expect(computeStats.isCached).toBe(false)
  const next = await post({ cursor: result.cursor })
  expect(next.status).toBe(400)
  expect(await next.json()).toMatchObject({
    code: 3,
    message: expect.stringMatching(/the statement ended before these rows: .*throwIf/s),
  })
})

it('tells those who share the computation of a failure, and keeps no page that ended early (ER-4, CA-4)', async () => {
  const payload = { sqlQuery: { sql: FAILING, size: 1_000_000 } }
  const first = begin(payload)
  const second = post(payload, { 'if-none-match': '"another"' })
  ;(await first).resume()
  expect((await second).status).toBe(400)
  const third = (await (await post(payload)).json()) as Answer
  expect(third.computeStats.isCached).toBe(false)
})

it('gives the page that was sent while it came to those who waited for it, and out of the cache (CA-4)', async () => {
  const payload = {
    sqlQuery: { sql: `select number as n, toString(rand()) as s from numbers(60000)`, size: 60_000 },
  }
  const [one, two] = await Promise.all([post(payload), post(payload)])
  const [a, b] = (await Promise.all([one.json(), two.json()])) as [Answer, Answer]
  const later = await post(payload)
  const c = (await later.json()) as Answer
  expect(a.result.rows).toHaveLength(60_000)
  expect(b.result).toEqual(a.result)
  expect(c.result).toEqual(a.result)
  expect([a, b, c].map(({ computeStats }) => computeStats.isCached)).toEqual([false, false, true])
  expect(later.headers.get('etag')).toMatch(/^W\//)
})

it('keeps what a slow reader has not taken, and gives all of it (SQ-5)', async () => {
  const sql = `select number as n, repeat('x', 100) as s from numbers(200000)`
  const answer = await begin({ sqlQuery: { sql, size: 200_000 }, cachePolicy: UNCACHED })
  await analytics.settled()
  const chunks: Buffer[] = []
  for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk)
  const { result } = JSON.parse(Buffer.concat(chunks).toString()) as Answer
  expect(result.rows).toHaveLength(200_000)
  expect(result.rows.findIndex(({ n }, place) => n !== place)).toBe(-1)
})

it('ends the statement of a caller who goes away within a page, before a second is over (SQ-7)', async () => {
  const mark = 'growing_and_gone'
  const heavy = `select sum(sipHash64(number)) as ${mark} from numbers(4000000000)`
  const sql = `select * from (select number as ${mark} from numbers(300000)) union all (${heavy})`
  const count = async (): Promise<number> =>
    (
      await test.engine.rows(
        `select 1 from system.processes where position(query, concat('growing', '_and_gone')) > 0`,
      )
    ).length
  const answer = await begin({ sqlQuery: { sql, size: 1_000_000 }, cachePolicy: UNCACHED })
  expect(answer.statusCode).toBe(200)
  expect(await count()).toBe(1)
  const witness = test.engine.rows('select sleep(1)').then(() => 'a second is over')
  answer.destroy()
  const end = (async () => {
    while ((await count()) > 0);
    return 'the statement is gone'
  })()
  expect(await Promise.race([end, witness])).toBe('the statement is gone')
  await witness
})

it('breaks a page off where its failure cannot be kept: what was cut is no JSON (SQ-5)', async () => {
  await database.db.schema.dropTable('sql_result_chunk').execute()
  await database.db.schema.dropTable('sql_result').execute()
  const response = await post({ sqlQuery: { sql: FAILING, size: 1_000_000 }, cachePolicy: UNCACHED })
  expect(response.status).toBe(200)
  await expect(response.text()).rejects.toThrow('terminated')
})
