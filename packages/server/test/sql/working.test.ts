import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseColumnType } from '../../src/analytics/column-type.ts'
import { createRowReader } from '../../src/analytics/read-row.ts'
import { versionDatabases } from '../../src/clickhouse/layout.ts'
import { linesOf } from '../../src/analytics/row-lines.ts'
import { readLineBlocks } from '../../src/clickhouse/read-line-blocks.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
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

/** Which of equal rows a LIMIT takes is open, and so is every value but the number of rows. */
const isOpen = (statement: string): boolean => /LIMIT \d+( OFFSET \d+)?$/.test(statement)

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
        const isEqual = isOpen(statement)
          ? rows.length === expected.length
          : JSON.stringify(sorted(rows)) === JSON.stringify(sorted(expected))
        if (!isEqual) differing.push(`${statement}: ${JSON.stringify(rows)} ≠ ${JSON.stringify(expected)}`)
      } catch (error) {
        differing.push(`${statement}: ${String(error)}`)
      }
    }
    expect(differing).toEqual([])
  },
)
