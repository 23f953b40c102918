import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildApp } from '../../src/http/app.ts'
import { sqlExecuteRoute } from '../../src/http/routes/sql-execute.ts'
import { sqlExecutionRoutes } from '../../src/http/routes/sql-executions.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { createSqlFixture, fillProject, sqlProject } from './sql-fixture.ts'

const project = sqlProject(955)
let test: TestEngine
let database: TestDatabase
let app: FastifyInstance

beforeAll(async () => {
  test = await startTestEngine()
  database = await openSqlite()
  await fillProject(test.engine, project)
  const { analytics } = await createSqlFixture(test.engine, database, project, {
    clock: systemClock,
    limits: { rowsReadMax: 100_000_000_000 },
  })
  app = await buildApp({
    log: silentLogger,
    bodyLimitBytes: 100_000,
    routes: [sqlExecuteRoute({ analytics }), ...sqlExecutionRoutes(analytics)],
    access: {
      recall: () => null,
      check: (question) =>
        Promise.resolve({
          key: null,
          project: question.project?.name === 'other' ? sqlProject(956) : project,
        }),
    },
    checkReady: () => Promise.resolve(),
  })
})

afterAll(async () => {
  await app.close()
  await database.close()
  await test.stop()
})

const SQL = '/api/v1/analytics/demo/p955/sql'

async function execute(sql: string, rest: object = {}) {
  const payload = { sqlQuery: { sql }, cachePolicy: { no_cache: true }, ...rest }
  const response = await app.inject({ method: 'POST', url: `${SQL}/execute`, payload })
  return { status: response.statusCode, body: response.json() }
}

it.each([
  ['an aggregate', 'select count(), sum(amount) from Transfer', 1000],
  ['a sort', 'select id from Transfer order by amount desc', 1000],
  ['rows as they are', 'select * from Transfer', 1000],
  ['a filter that nothing passes', "select * from Transfer where address = 'nowhere'", 1000],
  ['a join', 'select count() from Transfer a join Transfer b on a.id = b.id', 2000],
  ['no table', 'select 1', 1],
  ['a table function', 'select sum(number) from numbers(123456)', 123_456],
])('tells how many rows %s has read, when the run has a name (SQ-3)', async (_, sql, rows) => {
  const { body } = await execute(sql, { runId: 'r-1_a' })
  expect(body.computeStats.rowsRead).toBe(rows)
})

it('tells it of a statement that explains as none, and counts nothing where the run has no name (SQ-3)', async () => {
  const explained = await execute('explain select count() from Transfer', { runId: 'x' })
  expect(explained.body.computeStats.rowsRead).toBeLessThan(10)
  for (const rest of [{}, { runId: '' }]) {
    expect((await execute('select count() from Transfer', rest)).body.computeStats).not.toHaveProperty(
      'rowsRead',
    )
  }
})

it('tells of an answer out of the cache what its execution has read (CA-5)', async () => {
  const given = { runId: 'kept', cachePolicy: {} }
  const first = await execute('select max(id) from Transfer', given)
  const second = await execute('select max(id) from Transfer', given)
  expect([first, second].map(({ body }) => body.computeStats.isCached)).toEqual([false, true])
  expect(second.body.computeStats.rowsRead).toBe(first.body.computeStats.rowsRead)
})

it('refuses a name that is none', async () => {
  for (const runId of ["a'b", 'a b', 'ä', '.*', 'x'.repeat(65)]) {
    expect((await execute('select 1', { runId })).status, runId).toBe(400)
  }
})

it('tells while a statement runs how far it is, to its project alone, and no longer when it has ended (SQ-8)', async () => {
  const progress = async (runId: string, project = 'p955') => {
    const url = `/api/v1/analytics/demo/${project}/sql/runs/${runId}`
    const response = await app.inject({ method: 'GET', url })
    expect(response.statusCode).toBe(200)
    return response.json()
  }
  const long = 'select sum(sipHash64(number)) from numbers(4000000000)'
  const started = await app.inject({
    method: 'POST',
    url: `${SQL}/execute/async`,
    payload: { sqlQuery: { sql: long } },
  })
  const { executionId } = started.json()
  const patience = { timeout: 30_000, interval: 20 }
  const rowsRead = async () => (await progress(executionId)).rowsRead ?? 0
  await expect.poll(rowsRead, patience).toBeGreaterThan(0)
  const seen = await progress(executionId)
  expect(seen).toEqual({
    isRunning: true,
    rowsRead: expect.any(Number),
    rowsToRead: 4_000_000_000,
    elapsedMs: expect.any(Number),
  })
  await expect.poll(rowsRead, patience).toBeGreaterThan(seen.rowsRead)
  expect(await progress(executionId, 'other')).toEqual({ isRunning: false })
  expect(await progress(executionId.slice(0, -1))).toEqual({ isRunning: false })
  await app.inject({ method: 'PUT', url: `${SQL}/cancel_query/${executionId}` })
  await expect.poll(async () => (await progress(executionId)).isRunning, patience).toBe(false)
})
