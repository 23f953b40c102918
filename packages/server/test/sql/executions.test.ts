import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Answer, TestService } from '../support/service.ts'
import { startTestService } from '../support/service.ts'

const PATH = '/analytics/demo/async/sql'
const HEAVY = 'select sum(sipHash64(number)) from numbers(900000000)'
let service: TestService

beforeAll(async () => {
  service = await startTestService({ engineSessions: 5 })
  await service.post('/projects', { owner: 'demo', name: 'async' })
  await service.post('/projects', { owner: 'demo', name: 'other' })
  const records = Array.from({ length: 50 }, (_, n) => ({
    type: 'event',
    name: 'Transfer',
    chain: '1',
    blockNumber: n,
    timestampMicros: 1_700_000_000_000_000 + n,
    attributes: { n },
  }))
  await service.post('/ingest/demo/async/batch', {
    records: [
      ...records,
      {
        type: 'gauge',
        name: 'supply',
        chain: '1',
        blockNumber: 1,
        timestampMicros: 1_700_000_000_000_000,
        value: 5,
      },
    ],
  })
})

afterAll(() => service.stop())

const send = async (method: string, path: string): Promise<Answer> => {
  const headers = { 'api-key': service.administratorKey }
  const answer = await fetch(`${service.url}/api/v1${PATH}${path}`, { method, headers })
  return { status: answer.status, headers: answer.headers, body: await answer.json() }
}

async function start(sqlQuery: object, headers = {}): Promise<{ queryId: string; executionId: string }> {
  const { status, body } = await service.post(`${PATH}/execute/async`, { sqlQuery }, headers)
  expect([status, body]).toEqual([
    200,
    { queryId: expect.any(String), executionId: expect.any(String), queueLength: expect.any(Number) },
  ])
  return body
}

async function ended(executionId: string): Promise<Answer['body']> {
  for (;;) {
    const { body } = await service.get(`${PATH}/query_result/${executionId}`)
    if (!['PENDING', 'RUNNING'].includes(body.executionInfo.status)) return body.executionInfo
    await setTimeout(20)
  }
}

it('warns of totals, pages too large and members that look like others (SQ-5, SQ-8, WI-2)', async () => {
  const sqlQuery = { sql: 'select n, count() from Transfer group by n with totals', size: 2_000_000 }
  const { body } = await service.post(`${PATH}/execute/async`, { sqlQuery, versoin: 1 })
  expect((body as { warnings?: unknown }).warnings).toEqual([
    'versoin is not known and was left out; did you mean version?',
    expect.stringContaining('at most 1000000'),
    expect.stringContaining('WITH ROLLUP'),
  ])
  const now = await service.post(`${PATH}/execute`, { sqlQuery: { sql: 'select 1' }, versoin: 1 })
  expect((now.body as { warnings?: unknown }).warnings).toEqual([
    'versoin is not known and was left out; did you mean version?',
  ])
  const again = await service.post(`${PATH}/execute`, { sqlQuery: { sql: 'select 1' } })
  expect(again.body).not.toHaveProperty('warnings')
})

it('runs a statement whose result is asked for later, with a cursor for its further pages (SQ-8)', async () => {
  const { executionId, queryId } = await start({ sql: 'select n from Transfer order by n', size: 20 })
  const info = await ended(executionId)
  expect(info).toMatchObject({ status: 'FINISHED', queryId, executionId, processorVersion: 1 })
  expect(info.result.rows).toEqual(Array.from({ length: 20 }, (_, n) => ({ n })))
  const { body } = await service.post(`${PATH}/execute`, { cursor: info.result.cursor })
  expect(body.result.rows[0]).toEqual({ n: 20 })
  const detail = await service.get(`${PATH}/query_execution_detail/${executionId}`)
  expect(detail.body.computeStats.computeCostMs).toMatch(/^\d+$/)
  const again = await service.post(`${PATH}/execute`, { sqlQuery: { queryId } })
  expect(again.body.result.rows).toHaveLength(20)
})

it('tells why an execution has no result (SQ-8)', async () => {
  const { executionId } = await start({ sql: 'select throwIf(n = 7) from Transfer' })
  expect(await ended(executionId)).toMatchObject({
    status: 'KILLED',
    error: expect.stringContaining('throwIf'),
  })
  expect((await service.post(`${PATH}/execute/async`, { sqlQuery: { sql: 'selec 1' } })).status).toBe(400)
})

it('cancels an execution, and leaves one that has ended as it is (SQ-8)', async () => {
  const { executionId } = await start({ sql: HEAVY })
  const { body } = await send('PUT', `/cancel_query/${executionId}`)
  expect(body.executionInfo).toMatchObject({ status: 'KILLED', error: 'the query was cancelled' })
  const done = (await start({ sql: 'select 1' })).executionId
  await ended(done)
  const late = await send('PUT', `/cancel_query/${done}`)
  expect(late.body.executionInfo.status).toBe('FINISHED')
})

it('joins the execution of the same Idempotency-Key, and refuses another statement under it (SQ-8)', async () => {
  const headers = { 'idempotency-key': 'once' }
  const [one, two] = await Promise.all([start({ sql: HEAVY }, headers), start({ sql: `${HEAVY};` }, headers)])
  expect(two).toMatchObject({ executionId: one.executionId, queryId: one.queryId })
  const other = await service.post(`${PATH}/execute/async`, { sqlQuery: { sql: 'select 2' } }, headers)
  expect(other.status).toBe(409)
  await send('PUT', `/cancel_query/${one.executionId}`)
})

it('shows executions to their own project alone', async () => {
  const { executionId } = await start({ sql: 'select 1' })
  const foreign = await service.get(`/analytics/demo/other/sql/query_result/${executionId}`)
  expect(foreign.status).toBe(404)
})

it('keeps saved queries by name and id, with values that a request may replace (SQ-8)', async () => {
  const sqlQuery = {
    name: 'top',
    sql: 'select n from Transfer where n > ${least} order by n',
    parameters: { least: 45 },
  }
  const { queryId } = (await service.post(`${PATH}/save`, { sqlQuery })).body
  const rows = async (query: object): Promise<unknown[]> =>
    (await service.post(`${PATH}/execute`, { sqlQuery: query })).body.result.rows
  expect(await rows({ name: 'top' })).toHaveLength(4)
  expect(await rows({ queryId, parameters: { least: 47 } })).toEqual([{ n: 48 }, { n: 49 }])
  const changed = { name: 'top', sql: 'select 1 as one' }
  expect((await service.post(`${PATH}/save`, { sqlQuery: changed })).body).toEqual({ queryId })
  expect(await rows({ queryId })).toEqual([{ one: 1 }])
  expect((await send('GET', '/queries')).body.queries).toMatchObject([{ queryId, name: 'top' }])
  expect(
    (await service.post(`${PATH}/save`, { sqlQuery: { name: 'bad', sql: 'drop table x' } })).status,
  ).toBe(400)
  await send('DELETE', `/queries/${queryId}`)
  expect((await service.post(`${PATH}/execute`, { sqlQuery: { name: 'top' } })).status).toBe(404)
})

it('lists the tables with their kinds and columns (SQ-8)', async () => {
  const { tables } = (await send('GET', '/tables')).body
  expect(Object.keys(tables).toSorted()).toEqual(['Transfer', 'supply'])
  expect(tables.Transfer).toMatchObject({
    name: 'Transfer',
    tableType: 'EVENT',
    columns: {
      n: { columnType: 'NUMBER' },
      timestamp: { columnType: 'TIME', clickhouseDataType: "DateTime64(6, 'UTC')" },
    },
  })
  expect(tables.supply.tableType).toBe('METRICS')
})

it('still knows after a restart what has finished, and what was interrupted and why (SQ-8)', async () => {
  const done = await start({ sql: 'select n from Transfer order by n', size: 20 })
  await ended(done.executionId)
  const interrupted = await start({ sql: HEAVY })
  await service.restart()
  const info = await ended(done.executionId)
  expect(info).toMatchObject({ status: 'FINISHED' })
  expect(info.result.rows).toHaveLength(20)
  const lost = await ended(interrupted.executionId)
  expect(lost).toMatchObject({ status: 'KILLED', error: expect.stringMatching(/stops|restarted/) })
})
