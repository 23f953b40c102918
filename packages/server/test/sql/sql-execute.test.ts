import { gunzipSync } from 'node:zlib'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { buildSqlApp, createSqlFixture, fillProject, sqlProject } from './sql-fixture.ts'

const project = sqlProject(931)
let test: TestEngine
let database: TestDatabase
let app: FastifyInstance

beforeAll(async () => {
  test = await startTestEngine()
  database = await openSqlite()
  await fillProject(test.engine, project)
  const { analytics } = await createSqlFixture(test.engine, database, project, { clock: createManualClock() })
  app = await buildSqlApp(analytics, project)
})

afterAll(async () => {
  await app.close()
  await database.close()
  await test.stop()
})

interface Answer {
  readonly cursor?: string
  readonly compute_stats?: object
  readonly result: { readonly rows: unknown[]; readonly cursor: string }
}

async function execute(payload: object, prefix = '/api/v1'): Promise<{ status: number; body: Answer }> {
  const url = `${prefix}/analytics/demo/p931/sql/execute`
  const response = await app.inject({ method: 'POST', url, payload })
  return { status: response.statusCode, body: response.json() }
}

it('answers with columns, types, rows and statistics, under the interface names too (SQ-3, WI-3, WI-4)', async () => {
  const { status, body } = await execute({
    sqlQuery: { sql: 'select id, timestamp, amount from Transfer order by id;', size: 2 },
  })
  expect(status).toBe(200)
  expect(body).toEqual({
    runtimeCost: '0',
    result: {
      columns: ['id', 'timestamp', 'amount'],
      columnTypes: { id: 'NUMBER', timestamp: 'TIME', amount: 'NUMBER' },
      rows: [
        { id: 0, timestamp: '2024-01-01T00:00:00.000000Z', amount: '0' },
        { id: 1, timestamp: '2024-01-01T00:00:01.000000Z', amount: '1000000000000000000000' },
      ],
      generatedAt: '2026-01-01T00:00:00.000Z',
      cursor: expect.stringMatching(/^[\w-]+$/),
    },
    computeStats: expect.objectContaining({
      computedAt: '2026-01-01T00:00:00.000Z',
      computeCostMs: '0',
      isCached: false,
      isRefreshing: false,
    }),
    cursor: body.result.cursor,
    compute_stats: { computed_at: '2026-01-01T00:00:00.000Z', is_cached: false, is_refreshing: false },
  })
})

it('uses camelCase alone under /v1 (WI-3)', async () => {
  const { body } = await execute({ sql_query: { sql: 'select 1' } }, '/v1')
  expect(body.cursor).toBeUndefined()
  expect(body.compute_stats).toBeUndefined()
  expect(body.result).toMatchObject({ rows: [{ 1: 1 }], cursor: '' })
})

it('walks through a result with nothing but the cursor (interface 4.2)', async () => {
  const ids: unknown[] = []
  let { body } = await execute({ sqlQuery: { sql: 'select id from Transfer order by id', size: 333 } })
  for (;;) {
    ids.push(...body.result.rows.map((row) => (row as { id: number }).id))
    if (!body.cursor) break
    ;({ body } = await execute({ cursor: body.cursor }))
  }
  expect(ids).toEqual(Array.from({ length: 1000 }, (_, n) => n))
})

it('tolerates an empty sqlQuery beside a cursor and refuses a full one, and neither (CU-2)', async () => {
  const { body } = await execute({ sqlQuery: { sql: 'select id from Transfer', size: 10 } })
  const { cursor } = body
  expect((await execute({ cursor, sqlQuery: {} })).status).toBe(200)
  expect((await execute({ cursor, sqlQuery: null, cachePolicy: { noCache: true } })).status).toBe(200)
  expect((await execute({ cursor, sqlQuery: { sql: 'select 1' } })).status).toBe(400)
  expect((await execute({ sqlQuery: {} })).status).toBe(400)
  expect((await execute({})).status).toBe(400)
  expect((await execute({ sqlQuery: { sql: 'select 1', size: -1 } })).status).toBe(400)
})

it('answers a failed statement in the one form of errors (ER-1, ER-4)', async () => {
  const { status, body } = await execute({ sqlQuery: { sql: 'select nothing from Transfer' } })
  expect(status).toBe(400)
  expect(body).toEqual({
    code: 3,
    message: expect.stringContaining('nothing'),
    details: [{ engineCode: 'UNKNOWN_IDENTIFIER', position: 8, line: 1, column: 8 }],
  })
})

it('sends a page of megabytes, the same rows plain, compressed, out of the cache, and with its length where it is asked for by its tag (SQ-5)', async () => {
  const payload = {
    sqlQuery: { sql: `select number as n, repeat('é"', 20) as s from numbers(60000)`, size: 60_000 },
  }
  const url = '/api/v1/analytics/demo/p931/sql/execute'
  const read = async (headers: Readonly<Record<string, string>>) => {
    const { headers: got, rawPayload } = await app.inject({ method: 'POST', url, payload, headers })
    const bytes = got['content-encoding'] === 'gzip' ? gunzipSync(rawPayload) : rawPayload
    const { result } = JSON.parse(bytes.toString()) as { result: { rows: unknown[] } }
    return { length: got['content-length'], bytes: rawPayload.length, rows: result.rows }
  }
  const plain = await read({})
  expect(plain.bytes).toBeGreaterThan(4_000_000)
  expect(plain.length).toBeUndefined()
  expect(plain.rows[59_999]).toEqual({ n: 59_999, s: 'é"'.repeat(20) })
  expect(plain.rows.every((row, n) => (row as { n: number }).n === n)).toBe(true)
  const compressed = await read({ 'accept-encoding': 'gzip' })
  expect(compressed.bytes).toBeLessThan(2_000_000)
  expect(compressed.rows).toEqual(plain.rows)
  const kept = await read({})
  expect(kept.rows).toEqual(plain.rows)
  expect(kept.length).toBe(String(kept.bytes))
  const tagged = await read({ 'if-none-match': '"another"' })
  expect([tagged.length, tagged.rows]).toEqual([String(tagged.bytes), plain.rows])
})
