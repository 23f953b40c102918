import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseColumnType } from '../../src/analytics/column-type.ts'
import { createRowReader } from '../../src/analytics/read-row.ts'
import { versionDatabases } from '../../src/clickhouse/layout.ts'
import { linesOf } from '../../src/analytics/row-lines.ts'
import { readLineBlocks } from '../../src/clickhouse/read-line-blocks.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { engineExamples } from './engine-examples.ts'
import { FEATURES } from './feature-statements.ts'
import { CLICKBENCH, TPCH } from './foreign-statements.ts'
import { fillForeignTables } from './foreign-tables.ts'
import { createSqlFixture, fillProject, sqlProject, type SqlFixture } from './sql-fixture.ts'

const own = sqlProject(941)
let test: TestEngine
let database: TestDatabase
let sql: SqlFixture

beforeAll(async () => {
  test = await startTestEngine()
  database = await openSqlite()
  await fillProject(test.engine, own)
  await fillForeignTables(test.engine, own)
  sql = await createSqlFixture(test.engine, database, own, { clock: systemClock })
})

afterAll(async () => {
  await database.close()
  await test.stop()
})

/** What the engine itself answers, without any of the ways of the SQL API. */
async function direct(statement: string): Promise<unknown[][]> {
  const stream = await test.engine.stream(statement, 'JSONCompactEachRowWithNamesAndTypes', {
    database: versionDatabases(own.id, 1).user,
    settings: {
      date_time_output_format: 'iso',
      output_format_json_quote_64bit_integers: 0,
      output_format_json_quote_decimals: 1,
      output_format_json_quote_denormals: 0,
      output_format_json_named_tuples_as_objects: 1,
    },
  })
  const lines: Uint8Array[] = []
  for await (const block of readLineBlocks(stream)) lines.push(...linesOf(block))
  const types = JSON.parse(Buffer.from(lines[1] ?? []).toString()) as string[]
  const read = createRowReader(types.map(parseColumnType))
  return lines.slice(2).map((line) => [...read(line)])
}

/** Rows in any order: many statements leave it open. */
const sorted = (rows: readonly unknown[]): string[] => rows.map((row) => JSON.stringify(row)).toSorted()

/** Which of equal rows it takes is open: what it may take them from are the rows without it. */
const LIMIT = /\s+LIMIT \d+( OFFSET \d+)?$/

/** Are they so many of the others, none more often than there? */
function areAmong(rows: readonly unknown[], others: readonly unknown[]): boolean {
  const left = Map.groupBy(sorted(others), (row) => row)
  return sorted(rows).every((row) => left.get(row)?.pop() !== undefined)
}

it.each([
  ['ClickBench', CLICKBENCH, 43],
  ['TPC-H', TPCH, 22],
  ['features', FEATURES, 235],
] as const)(
  'answers what the engine answers: %s (SQ-1)',
  { timeout: 180_000 },
  async (_name, statements, least) => {
    expect(statements.length).toBeGreaterThanOrEqual(least)
    const differing: string[] = []
    for (const statement of statements) {
      try {
        const [answer, expected] = [await sql.run({ sql: statement }), await direct(statement)]
        const rows = answer.page.rows.map((row) => Object.values(row as object))
        const isEqual = LIMIT.test(statement)
          ? rows.length === expected.length && areAmong(rows, await direct(statement.replace(LIMIT, '')))
          : JSON.stringify(sorted(rows)) === JSON.stringify(sorted(expected))
        if (!isEqual) differing.push(`${statement}: ${JSON.stringify(rows)} ≠ ${JSON.stringify(expected)}`)
      } catch (error) {
        differing.push(`${statement}: ${String(error)}`)
      }
    }
    expect(differing).toEqual([])
  },
)

/** Every third of them is as many as the time allows. */
const EVERY = 3
/** Their answers follow from more than the statement. */
const CHANGING =
  /\b(now\w*|today|yesterday|current_?\w*|curdate|local_?time\w*|utc_?\w+|\w*rand\w*|generate\w+|dateTimeTo(UUID|Snowflake)\w+|fuzz\w+|\w*shuffle)\b/i

it(
  'answers hundreds of statements of the engine’s own manual as the engine answers them (SQ-1)',
  { timeout: 240_000 },
  async () => {
    const differing: string[] = []
    const refused: string[] = []
    let equal = 0
    for (const [n, statement] of (await engineExamples(test.engine)).entries()) {
      if (n % EVERY !== 0 || CHANGING.test(statement)) continue
      const expected = await direct(statement).catch(() => null)
      // The tables of the manual are not there, and some functions want what a server has set up.
      if (expected === null) continue
      try {
        const { page } = await sql.run({ sql: statement })
        const rows = page.rows.map((row) => Object.values(row as object))
        const isEqual = JSON.stringify(sorted(rows)) === JSON.stringify(sorted(expected))
        if (isEqual) equal++
        else differing.push(`${statement}: ${JSON.stringify(rows)} ≠ ${JSON.stringify(expected)}`)
      } catch (error) {
        refused.push(`${statement}: ${String(error)}`)
      }
    }
    expect(differing).toEqual([])
    // What tells of the server, and tables of other databases.
    expect(refused.filter((each) => !each.includes(' is not allowed'))).toEqual([])
    expect(refused.length).toBeLessThan(equal / 15)
    expect(equal).toBeGreaterThan(400)
  },
)
