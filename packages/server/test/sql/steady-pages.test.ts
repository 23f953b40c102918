import { afterAll, beforeAll, expect, it } from 'vitest'
import { versionDatabases } from '../../src/clickhouse/layout.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { createSqlFixture, fillProject, sqlProject, type SqlFixture } from './sql-fixture.ts'

const ROWS = 1_000_000
const PAGE_ROWS = 50_000
const own = sqlProject(971)
const { user, facts } = versionDatabases(own.id, 1)
const TABLE = `${facts}.event_Growing`

let test: TestEngine
let database: TestDatabase
let sql: SqlFixture

beforeAll(async () => {
  test = await startTestEngine()
  database = await openSqlite()
  await fillProject(test.engine, own)
  for (const statement of [
    `create table ${TABLE} (id UInt64, value UInt64) engine = MergeTree order by id`,
    `create view ${user}.Growing as select id, value from ${TABLE}`,
    `insert into ${TABLE} select number, number * 3 from numbers(${ROWS})`,
  ]) {
    await test.engine.command(statement)
  }
  sql = await createSqlFixture(test.engine, database, own, { clock: systemClock })
}, 120_000)

afterAll(async () => {
  await database.close()
  await test.stop()
})

it(
  'gives a million rows as they were at the first page, each once, while rows are inserted and rolled back (CU-1)',
  { timeout: 240_000 },
  async () => {
    const times = new Uint8Array(ROWS)
    const others: unknown[] = []
    let pages = 0
    let answer = await sql.run({ sql: 'select id, value from Growing', pageSize: PAGE_ROWS })
    for (;;) {
      for (const row of answer.page.rows as readonly { readonly id: number; readonly value: number }[]) {
        if (row.id < ROWS && row.value === row.id * 3) times[row.id] = (times[row.id] ?? 0) + 1
        else others.push(row)
      }
      pages++
      if (answer.cursor === '') break
      await test.engine.command(
        `insert into ${TABLE} select ${ROWS} + number, 0 from numbers(${pages} * 100, 100)`,
      )
      await test.engine.command(`delete from ${TABLE} where id % 1000 = ${pages}`)
      answer = await sql.run({ cursor: answer.cursor })
    }
    expect(others).toEqual([])
    expect(times.every((count) => count === 1)).toBe(true)
    expect(pages).toBe(ROWS / PAGE_ROWS)
    // The data has changed all the while: a new first page sees it.
    const now = await sql.run({ sql: 'select count() as n, max(id) >= 1000000 as grown from Growing' })
    expect(now.page.rows).not.toEqual([{ n: ROWS, grown: 0 }])
    expect(now.page.rows).toMatchObject([{ grown: 1 }])
  },
)
