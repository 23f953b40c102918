import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { versionDatabases } from '../../src/clickhouse/layout.ts'
import { ServiceError } from '../../src/platform/errors.ts'
import type { TestEngine } from '../support/fact-engine.ts'
import { randomStatement } from './random-statements.ts'
import { sqlProject, startSqlTest, type SqlFixture } from './sql-fixture.ts'

const own = sqlProject(911)
const foreign = sqlProject(912)
let test: TestEngine
let sql: SqlFixture
let stop: () => Promise<void>

beforeAll(async () => {
  ;({ test, sql, stop } = await startSqlTest(own, foreign))
  const { user, facts } = versionDatabases(foreign.id, 1)
  for (const statement of [
    `create table ${facts}.event_Secret (secret String) engine = MergeTree order by tuple()`,
    `insert into ${facts}.event_Secret values ('decoy-4711')`,
    `create view ${user}.Secret as select * from ${facts}.event_Secret`,
  ]) {
    await test.engine.command(statement)
  }
})

afterAll(() => stop())

type Outcome = { readonly rows: unknown } | { readonly code: string }

async function outcomeOf(run: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { rows: await run() }
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code }
    throw error
  }
}

/** Rows in no order, as one value: statements leave their order open. */
const digest = (text: string): string =>
  `select toString(count()) as n, toString(sum(cityHash64(*))) as h from (\n${text}\n)`

it(
  'refuses every random statement that reaches out, and answers every other as the engine does (SQ-1, SQ-2)',
  { timeout: 240_000 },
  async () => {
    const seen = { hostile: 0, answered: 0 }
    await fc.assert(
      fc.asyncProperty(randomStatement, async ({ text, isHostile }) => {
        const given = await outcomeOf(async () => (await sql.run({ sql: digest(text) })).page.rows)
        if (isHostile) {
          seen.hostile++
          expect(given).toEqual({ code: 'invalid_argument' })
          return
        }
        const direct = await outcomeOf(() =>
          test.engine.rows(digest(text), { database: versionDatabases(own.id, 1).user }),
        )
        if ('rows' in given) seen.answered++
        expect(given).toEqual(direct)
      }),
      { numRuns: 250 },
    )
    // The grammar makes enough of both.
    expect(seen.hostile).toBeGreaterThan(20)
    expect(seen.answered).toBeGreaterThan(60)
  },
)
