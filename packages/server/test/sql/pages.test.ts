import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { versionDatabases } from '../../src/clickhouse/layout.ts'
import { controlDatabases, openSqlite, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { failure } from '../support/failure.ts'
import { createManualClock, type ManualClock } from '../support/manual-clock.ts'
import { createSqlFixture, DEFAULT_POLICY, fillProject, sqlProject, type SqlFixture } from './sql-fixture.ts'

const own = sqlProject(921)
const foreign = sqlProject(922)
const HOUR_MS = 3_600_000

let test: TestEngine

beforeAll(async () => {
  test = await startTestEngine()
  await fillProject(test.engine, own)
  await fillProject(test.engine, foreign)
})

afterAll(() => test.stop())

describe.each(controlDatabases)('pages of the spool on $name', ({ open }) => {
  let database: TestDatabase
  let clock: ManualClock
  let sql: SqlFixture

  beforeEach(async () => {
    database = await open()
    clock = createManualClock()
    sql = await createSqlFixture(test.engine, database, own, { clock })
  })

  afterEach(() => database.close())

  const countKept = async (): Promise<number> =>
    (await database.db.selectFrom('sql_result').selectAll().execute()).length

  it('answers what fits with an empty cursor and keeps nothing (SQ-5)', async () => {
    const { page, cursor } = await sql.run({ sql: 'select id from Transfer', pageSize: 1000 })
    expect(page.rows).toHaveLength(1000)
    expect(cursor).toBe('')
    expect(await countKept()).toBe(0)
  })

  it('gives every row once over all pages, in order, with the columns on each (SQ-3, SQ-5, CU-1)', async () => {
    const answers = await sql.pages({ sql: 'select id, chain from Transfer order by id desc', pageSize: 300 })
    expect(answers.map(({ page }) => page.rows.length)).toEqual([300, 300, 300, 100])
    expect(answers.flatMap(({ page }) => page.rows.map((row) => (row as { id: number }).id))).toEqual(
      Array.from({ length: 1000 }, (_, n) => 999 - n),
    )
    for (const { page } of answers) expect(page.columns.map(({ name }) => name)).toEqual(['id', 'chain'])
  })

  it('keeps the rows behind the first page alone, to which no cursor leads (CU-1, CU-3)', async () => {
    await sql.run({ sql: 'select id from Transfer order by id', pageSize: 300 })
    await sql.analytics.settled()
    const chunks = await database.db
      .selectFrom('sql_result_chunk')
      .select(['first_row', 'row_count'])
      .orderBy('first_row')
      .execute()
    expect(chunks[0]?.first_row).toBe(300)
    expect(chunks.reduce((sum, each) => sum + each.row_count, 0)).toBe(700)
  })

  it('has no cursor when the last page is exactly full, and honours a LIMIT over all pages (SQ-5)', async () => {
    const answers = await sql.pages({ sql: 'select id from Transfer limit 400', pageSize: 200 })
    expect(answers.map(({ page, cursor }) => [page.rows.length, cursor === ''])).toEqual([
      [200, false],
      [200, true],
    ])
  })

  it('loses and repeats nothing of a result that the engine gives in many pieces (CU-1)', async () => {
    const answers = await sql.pages({
      sql: `select number as n, repeat('x', 20) as s from numbers(150000)`,
      pageSize: 40_000,
    })
    expect(answers.map(({ page }) => page.rows.length)).toEqual([40_000, 40_000, 40_000, 30_000])
    const numbers = answers.flatMap(({ page }) => page.rows.map((row) => (row as { n: unknown }).n))
    expect(numbers.findIndex((n, place) => n !== place)).toBe(-1)
  })

  it('is not disturbed by what is ingested between the pages (CU-1)', async () => {
    const { facts } = versionDatabases(own.id, 1)
    const first = await sql.run({ sql: 'select address from Transfer', pageSize: 600 })
    await test.engine.command(
      `insert into ${facts}.event_Transfer (id, address) select number, 'new' from numbers(500)`,
    )
    try {
      const second = await sql.run({ cursor: first.cursor })
      expect(second.page.rows).toHaveLength(400)
      expect(JSON.stringify([first.page.rows, second.page.rows])).not.toContain('new')
    } finally {
      await test.engine.command(`delete from ${facts}.event_Transfer where address = 'new'`)
    }
  })

  it('gives the same page for the same cursor, from any instance (CU-2, CU-3)', async () => {
    const other = await createSqlFixture(test.engine, database, own, { clock })
    const { cursor } = await sql.run({ sql: 'select id from Transfer order by id', pageSize: 10 })
    const pages = [await sql.run({ cursor }), await other.run({ cursor }), await sql.run({ cursor })]
    for (const { page } of pages) expect(page).toEqual(pages[0]?.page)
  })

  it('ends a page at its byte limit, with at least one row (SQ-5)', async () => {
    const narrow = await createSqlFixture(test.engine, database, own, {
      clock,
      limits: { pageBytesMax: 100 },
    })
    const answers = await narrow.pages({
      sql: `select id, repeat('x', id * 40) as text from Transfer where id < 6 order by id`,
    })
    expect(answers.map(({ page }) => page.rows.length)).toEqual([2, 1, 1, 1, 1])
  })

  it('expires a result an hour after its last use and says so (CU-2)', async () => {
    const { cursor } = await sql.run({ sql: 'select id from Transfer', pageSize: 10 })
    await sql.analytics.settled()
    clock.advance(HOUR_MS - 1000)
    await sql.run({ cursor })
    await sql.analytics.expire()
    clock.advance(HOUR_MS - 1000)
    await sql.analytics.expire()
    await sql.run({ cursor })
    clock.advance(2 * HOUR_MS)
    expect(await sql.analytics.expire()).toBe(1)
    const error = await failure(sql.run({ cursor }))
    expect(error.code).toBe('not_found')
    expect(error.message).toContain('start again')
    expect(await countKept()).toBe(0)
  })

  it('refuses a foreign cursor, a cursor beside a statement, and neither (CU-2)', async () => {
    const { cursor } = await sql.run({ sql: 'select id from Transfer', pageSize: 10 })
    for (const attempt of [
      sql.run({ cursor }, { project: foreign }),
      sql.run({ cursor, sql: 'select 1' }),
      sql.run({ cursor: `${cursor}x` }),
      sql.run({}),
    ]) {
      expect((await failure(attempt)).code).toBe('invalid_argument')
    }
  })

  it('continues a cached first page with cursors into the same stored result (CA-7)', async () => {
    const statement = { sql: 'select id, rand() as r from Transfer order by id', pageSize: 400 }
    const first = await sql.run(statement, { policy: DEFAULT_POLICY })
    const again = await sql.run({ ...statement, sql: `${statement.sql} ; ` }, { policy: DEFAULT_POLICY })
    expect(again.stats.isCached).toBe(true)
    expect(again.page).toEqual(first.page)
    expect((await sql.run({ cursor: again.cursor })).page).toEqual(
      (await sql.run({ cursor: first.cursor })).page,
    )
    expect(await countKept()).toBe(1)
  })

  it('gives a cached page to another instance as it was, whatever it holds (CA-7, SQ-4)', async () => {
    const text = String.raw`'é"\\\n\u0001t0 2'`
    const statement = { sql: `select id, ${text} as s, rand() as r from Transfer order by id`, pageSize: 400 }
    const policy = { ...DEFAULT_POLICY, isRefreshForced: true }
    const first = await sql.run(statement, { policy })
    await sql.stored()
    const other = await createSqlFixture(test.engine, database, own, { clock, instance: 'two' })
    const again = await other.run(statement, { policy: DEFAULT_POLICY })
    expect(again.stats).toMatchObject({ isCached: true, details: { source: 'store' } })
    expect(again.page).toEqual(first.page)
    expect((await other.run({ cursor: again.cursor })).page.rows).toHaveLength(400)
  })

  it('computes a cached page anew when the pages behind it have gone (CA-7)', async () => {
    const statement = { sql: 'select id from Transfer order by id', pageSize: 400 }
    await sql.run(statement, { policy: DEFAULT_POLICY })
    await database.db.deleteFrom('sql_result').execute()
    const again = await sql.run(statement, { policy: DEFAULT_POLICY })
    expect(again.stats.isCached).toBe(false)
    expect((await sql.run({ cursor: again.cursor })).page.rows).toHaveLength(400)
  })

  it('answers the first page before the rest is there, and says in a later one why it ended (ER-4)', async () => {
    const sql_ = 'select throwIf(number = 900000) as ok from numbers(1000000)'
    const first = await sql.run({ sql: sql_, pageSize: 10 })
    expect(first.page.rows).toHaveLength(10)
    const error = await failure(readOn(sql, first.cursor))
    expect([error.code, error.message]).toEqual([
      'invalid_argument',
      expect.stringContaining('ended before these rows'),
    ])
    expect(await database.db.selectFrom('sql_result_chunk').select('result_id').execute()).toEqual([])
    expect((await failure(sql.run({ sql: sql_, pageSize: 1_000_000 }))).code).toBe('invalid_argument')
  })

  it('ends a result that grows over a limit, and names the limit (CU-3)', async () => {
    const tight = await createSqlFixture(test.engine, database, own, {
      clock,
      limits: { projectBytesMax: 1000 },
    })
    const { cursor } = await tight.run({
      sql: 'select generateUUIDv4() as id from Transfer',
      pageSize: 10,
    })
    const error = await failure(readOn(tight, cursor))
    expect(error.code).toBe('resource_exhausted')
    expect(error.message).toContain('1000 bytes')
  })

  it('says of a result whose writer is gone that it was interrupted', async () => {
    const { cursor } = await sql.run({ sql: 'select id from Transfer', pageSize: 10 })
    await sql.analytics.settled()
    await database.db.updateTable('sql_result').set({ row_count: null }).execute()
    await database.db.deleteFrom('sql_result_chunk').execute()
    clock.advance(61_000)
    expect((await failure(sql.run({ cursor }))).message).toContain('interrupted')
  })
})

/** Reads all pages that are left. */
async function readOn(sql: SqlFixture, cursor: string): Promise<void> {
  for (let next = cursor; next !== '';) ({ cursor: next } = await sql.run({ cursor: next }))
}

describe('answers', () => {
  let database: TestDatabase
  let sql: SqlFixture

  beforeAll(async () => {
    database = await openSqlite()
    sql = await createSqlFixture(test.engine, database, own, { clock: createManualClock() })
  })

  afterAll(() => database.close())

  it('gives values of every type without loss (SQ-4)', async () => {
    const { page } = await sql.run({
      sql: `select 9007199254740993::Int64 as long, 5::Int128 as wide, 1.50::Decimal(9, 2) as price, 0.1 as share,
              nan as nothing, null as absent, true as flag, [1, 2]::Array(UInt256) as list, map('a', 1) as pairs,
              toDateTime64('2024-01-01 00:00:00.123456', 6, 'America/Los_Angeles') as instant,
              toDateTime('2024-01-01 00:00:00', 'UTC') as second, toDate('2024-01-01') as day,
              'x'::LowCardinality(String) as word, unhex('ff41') as bytes, tuple(1, 'a')::Tuple(n UInt8, s String) as pair,
              '{"a": 12345678901234567890}'::JSON as document`,
    })
    expect(page.rows).toEqual([
      {
        long: '9007199254740993',
        wide: '5',
        price: '1.5',
        share: 0.1,
        nothing: null,
        absent: null,
        flag: true,
        list: ['1', '2'],
        pairs: { a: 1 },
        instant: '2024-01-01T08:00:00.123456Z',
        second: '2024-01-01T00:00:00Z',
        day: '2024-01-01T00:00:00Z',
        word: 'x',
        bytes: '/0E=',
        pair: { n: 1, s: 'a' },
        document: { a: '12345678901234567890' },
      },
    ])
    expect(page.columns.map(({ wireType }) => wireType).join(' ')).toBe(
      'NUMBER NUMBER NUMBER NUMBER NUMBER STRING BOOLEAN LIST MAP TIME TIME TIME STRING STRING JSON JSON',
    )
  })

  it('makes column names unique (SQ-4)', async () => {
    const { page } = await sql.run({
      sql: 'select a.id, b.id, 1 from Transfer a join Transfer b using (id) order by 1 limit 1',
    })
    const names = page.columns.map(({ name }) => name)
    expect(new Set(names).size).toBe(3)
    expect(new Set(Object.keys(page.rows[0] as object))).toEqual(new Set(names))
  })

  it('has columns and types without rows (SQ-3)', async () => {
    const { page } = await sql.run({ sql: 'select id, timestamp from Transfer where 0' })
    expect(page).toMatchObject({
      rows: [],
      columns: [
        { name: 'id', wireType: 'NUMBER' },
        { name: 'timestamp', wireType: 'TIME' },
      ],
    })
  })

  it('binds parameters in the engine (SQ-6)', async () => {
    const text = `x' or 1 = 1 --`
    const { page } = await sql.run({
      sql: 'select {text:String} as text, count() as n from Transfer where id < {top:UInt64} and address != {text:String}',
      parameters: { text, top: 10 },
    })
    expect(page.rows).toEqual([{ text, n: 10 }])
  })

  it('reads the active version, and no tables where a project has none (SQ-2)', async () => {
    const none = { ...own, id: 928, activeVersion: null }
    expect((await sql.run({ sql: 'select 1 as one' }, { project: none })).page.rows).toEqual([{ one: 1 }])
    expect((await sql.run({ sql: 'show tables' }, { project: none })).page.rows).toEqual([])
    const other = await failure(sql.run({ sql: 'select * from Transfer', version: 7 }))
    expect([other.code, other.message]).toEqual(['not_found', 'version 7 has no data'])
    const empty = { ...own, id: 929 }
    expect((await sql.run({ sql: 'show tables' }, { project: empty })).page.rows).toEqual([])
  })

  it('serves a larger size than allowed as the largest, and says so (SQ-5)', async () => {
    const { warnings, page } = await sql.run({ sql: 'select id from Transfer', pageSize: 2_000_000 })
    expect(page.rows).toHaveLength(1000)
    expect(warnings).toHaveLength(1)
  })

  it('cancels the statement of a caller who goes away (SQ-7)', async () => {
    const caller = new AbortController()
    const query = failure(
      sql.run({ sql: 'select sum(sipHash64(number)) from numbers(900000000)' }, { signal: caller.signal }),
    )
    caller.abort()
    expect((await query).code).toBe('cancelled')
  })

  it('names the limit that a statement goes over (SQ-7, ER-4)', async () => {
    const rows = await failure(sql.run({ sql: 'select sum(number) from numbers(10000000000)' }))
    expect([rows.code, rows.message]).toEqual(['resource_exhausted', expect.stringContaining('rows')])
    const quick = await createSqlFixture(test.engine, database, own, {
      clock: createManualClock(),
      limits: { timeoutMs: 200 },
    })
    const late = await failure(quick.run({ sql: 'select sum(sipHash64(number)) from numbers(900000000)' }))
    expect(late.code).toBe('deadline_exceeded')
  })
})
