import { client, DataService } from '@sentio/api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

const ROWS = 2500
const FIRST_MICROS = 1_700_000_000_000_000
const LARGEST = (2n ** 255n - 1n).toString()
const path = '/analytics/demo/erc20/sql/execute'

let service: TestService

function transfers(from: number, count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({
    type: 'event',
    name: 'Transfer',
    chain: '1',
    blockNumber: from + index,
    timestampMicros: FIRST_MICROS + (from + index) * 1_000_000,
    attributes: { n: from + index, value: { $int: LARGEST }, note: 'tür\u0000' },
  }))
}

async function ingest(records: readonly object[]): Promise<void> {
  const { status, body } = await service.post('/ingest/demo/erc20/batch', { records })
  expect(body).toMatchObject({ accepted: records.length })
  expect(status).toBe(200)
}

beforeAll(async () => {
  service = await startTestService()
  await service.post('/projects', { owner: 'demo', name: 'erc20' })
  // Several batches, so that the engine answers from several parts.
  for (let from = 0; from < ROWS; from += 500) await ingest(transfers(from, 500))
})

afterAll(() => service.stop())

describe('sql/execute', () => {
  it('answers rows as objects with their column types, no digit lost (SQ-3, SQ-4, WI-3)', async () => {
    const sql = 'select timestamp, n, value, note, [1, 2] as list from Transfer order by n limit 1;'
    const { status, body } = await service.post(path, { sqlQuery: { sql } })
    expect(status).toBe(200)
    expect(body.result).toEqual({
      columns: ['timestamp', 'n', 'value', 'note', 'list'],
      columnTypes: { timestamp: 'TIME', n: 'NUMBER', value: 'NUMBER', note: 'STRING', list: 'LIST' },
      rows: [
        { timestamp: '2023-11-14T22:13:20.000000Z', n: 0, value: LARGEST, note: 'tür\u0000', list: [1, 2] },
      ],
      generatedAt: expect.stringMatching(/Z$/),
      cursor: '',
    })
    expect(body).toMatchObject({ cursor: '', runtimeCost: expect.stringMatching(/^\d+$/) })
    expect(body.compute_stats).toMatchObject({ is_cached: false })
  })

  it('pages one execution to its end while rows are added (SQ-5, CU-1)', async () => {
    const seen: number[] = []
    let request: object = { sqlQuery: { sql: 'select n from Transfer', size: 400 } }
    for (let page = 0; ; page++) {
      const { status, body } = await service.post(path, request)
      expect([status, body.result.columns, body.result.columnTypes]).toEqual([200, ['n'], { n: 'NUMBER' }])
      seen.push(...body.result.rows.map(({ n }: { n: number }) => n))
      if (body.cursor === '') break
      expect(body.result.rows).toHaveLength(400)
      if (page === 1) await ingest(transfers(ROWS, 50))
      request = { cursor: body.cursor }
    }
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: ROWS }, (_, n) => n))
  })

  it('refuses a cursor that is broken, foreign, or beside a statement, and a request with neither (CU-2)', async () => {
    const sqlQuery = { sql: 'select n from Transfer', size: 10 }
    const { cursor } = (await service.post(path, { sqlQuery })).body
    await service.post('/projects', { owner: 'demo', name: 'other' })
    const answers = await Promise.all([
      service.post(path, { cursor: `${cursor.slice(0, -2)}AA` }),
      service.post('/analytics/demo/other/sql/execute', { cursor }),
      service.post(path, { cursor, sqlQuery }),
      service.post(path, {}),
    ])
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400])
    // The same cursor is the same page, however often it is used.
    const [one, two] = [await service.post(path, { cursor }), await service.post(path, { cursor })]
    expect(one.body.result.rows).toEqual(two.body.result.rows)
  })

  it.each([
    'select 1; select 2',
    'insert into Transfer (n) values (1)',
    'drop table Transfer',
    "select * from file('/etc/passwd', LineAsString)",
    'select * from system.tables',
    "select 1 into outfile '/tmp/out'",
    'select 1 settings max_threads = 1',
    'select * from millrace_p1_v1_facts.points',
  ])('refuses anything but one statement that reads the project: %s (SQ-1, SQ-2)', async (sql) => {
    const { status, body } = await service.post(path, { sqlQuery: { sql } })
    expect(status).toBe(400)
    // What the caller wrote may be repeated; the service's own names are no caller's business.
    expect(body.message.replace('millrace_p1_v1_facts.points', '')).not.toContain('millrace_p')
    expect(body.code).toBe(3)
  })

  it("answers a failing statement with the engine's message and the position (ER-4)", async () => {
    const { status, body } = await service.post(path, {
      sqlQuery: { sql: 'select nothing_here from Transfer' },
    })
    expect([status, body.message]).toEqual([400, expect.stringContaining('nothing_here')])
    const syntax = await service.post(path, { sqlQuery: { sql: 'select from where' } })
    expect(syntax.body.details[0]).toHaveProperty('position')
  })

  it('is walked through by an existing client with only the base URL replaced', async () => {
    client.setConfig({ baseUrl: service.url, auth: service.administratorKey })
    const params = { path: { owner: 'demo', slug: 'erc20' } }
    let { data } = await DataService.executeSql({
      ...params,
      body: { sqlQuery: { sql: 'select n from `Transfer` where n < 2500 order by n', size: 1000 } },
    })
    const rows = [...(data?.result?.rows ?? [])]
    while (data?.result?.cursor) {
      data = (await DataService.executeSql({ ...params, body: { cursor: data.result.cursor } })).data
      rows.push(...(data?.result?.rows ?? []))
    }
    expect(rows).toEqual(Array.from({ length: ROWS }, (_, n) => ({ n })))
  })

  it('runs, saves and cancels statements for an existing client with only the base URL replaced (SQ-8)', async () => {
    client.setConfig({ baseUrl: service.url, auth: service.administratorKey })
    const path = { owner: 'demo', slug: 'erc20' }
    const sqlQuery = { sql: 'select n from `Transfer` where n < ${below} order by n', size: 3 }
    const parameters = { fields: { below: { intValue: 5 } } }
    const saved = await DataService.saveSql({
      path,
      body: { sqlQuery: { ...sqlQuery, name: 'first', parameters } },
    })
    const again = await DataService.saveSql2({
      path,
      body: { sqlQuery: { ...sqlQuery, name: 'first', parameters } },
    })
    expect(again.data?.queryId).toBe(saved.data?.queryId)

    const { data: started } = await DataService.executeSqlAsync({
      path,
      body: { sqlQuery: { name: 'first' } },
    })
    const of = { path: { ...path, executionId: started?.executionId ?? '' } }
    const ask = async () => (await DataService.querySqlResult(of)).data?.executionInfo
    await expect.poll(async () => (await ask())?.status, { timeout: 30_000 }).toBe('FINISHED')
    const { result } = (await ask()) ?? {}
    expect(result?.rows).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }])
    const next = await DataService.executeSql({ path, body: { cursor: result?.cursor ?? '' } })
    expect([next.data?.result?.rows, next.data?.result?.cursor]).toEqual([[{ n: 3 }, { n: 4 }], ''])
    expect((await DataService.querySqlExecutionDetail(of)).data?.computeStats?.computeCostMs).toMatch(/^\d+$/)

    const long = await DataService.executeSqlAsync({
      path,
      body: { sqlQuery: { sql: 'select sum(sipHash64(number)) from numbers(1000000000)' } },
    })
    const ofLong = { path: { ...path, executionId: long.data?.executionId ?? '' } }
    expect((await DataService.cancelSqlQuery(ofLong)).error).toBeUndefined()
    const status = async () => (await DataService.querySqlResult(ofLong)).data?.executionInfo?.status
    await expect.poll(status, { timeout: 30_000 }).toBe('KILLED')
  })
})
