import { afterAll, beforeAll, expect, it } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { openSqlite } from '../support/databases.ts'
import { jsonBatch, startIngestFixture, userRows, type IngestFixture } from '../ingest/instance.ts'
import { createSqlFixture, type SqlFixture } from './sql-fixture.ts'

const ROWS = 1_000_000
const BATCH_ROWS = 50_000
const BLOCK_ROWS = 1000
const PAGE_ROWS = 50_000
const START_MICROS = 1_700_000_000_000_000
const STATEMENT = 'select timestamp, value from Growing order by timestamp, value'

let fixture: IngestFixture
let sql: SqlFixture

/** Samples numbered from one on, a thousand a block. */
function samples(first: number, count: number, value = (n: number): number => n): readonly object[] {
  return Array.from({ length: count }, (_, place) => ({
    type: 'gauge',
    name: 'Growing',
    chain: '1',
    blockNumber: Math.floor((first + place) / BLOCK_ROWS) + 1,
    timestampMicros: START_MICROS + first + place,
    value: value(first + place),
  }))
}

beforeAll(async () => {
  fixture = await startIngestFixture(openSqlite)
  const { facts, database, ingest, project } = fixture
  for (let first = 0; first < ROWS; first += BATCH_ROWS) {
    await ingest.accept(project, jsonBatch(samples(first, BATCH_ROWS)))
  }
  sql = await createSqlFixture(facts.engine, database, project, { clock: systemClock })
}, 240_000)

afterAll(() => fixture.stop())

it(
  'gives a million rows as they were at the first page, while batches are stored and blocks rolled back (CU-1)',
  { timeout: 240_000 },
  async () => {
    const { facts, ingest, project } = fixture
    const snapshot = await userRows<{ value: number }>(facts.engine, project, STATEMENT)
    expect(snapshot).toHaveLength(ROWS)
    let row = 0
    let firstOther: unknown = null
    let pages = 0
    let answer = await sql.run({ sql: STATEMENT, pageSize: PAGE_ROWS })
    for (;;) {
      for (const { value } of answer.page.rows as readonly { readonly value: number }[]) {
        if (value !== snapshot[row]?.value) firstOther ??= { row, value, was: snapshot[row] }
        row++
      }
      pages++
      if (answer.cursor === '') break
      // By turns: samples between and behind those of the result, and blocks of the result that are no more.
      if (pages % 2 === 1) {
        await ingest.accept(project, jsonBatch(samples(pages * 100, 100, () => -1)))
        await ingest.accept(project, jsonBatch(samples(ROWS + pages * 100, 100)))
      } else {
        const blockNumber = ROWS / BLOCK_ROWS - pages * 10
        await ingest.rollBack(project, { chain: '1', blockNumber, version: null })
      }
      answer = await sql.run({ cursor: answer.cursor })
    }
    expect(firstOther).toBe(null)
    expect([row, pages]).toEqual([ROWS, ROWS / PAGE_ROWS])
    // The data has changed all the while: a new first page sees what the engine holds now.
    const counts = 'select count() as n, max(block_number) as height, countIf(value < 0) as late from Growing'
    const now = await sql.run({ sql: counts })
    expect(now.page.rows).toEqual([{ n: 821_100, height: 1002, late: 1000 }])
  },
)
