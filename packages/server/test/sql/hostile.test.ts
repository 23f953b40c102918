import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ExportFormat } from '../../src/analytics/export-result.ts'
import { ServiceError } from '../../src/platform/errors.ts'
import { createSavedQueryStore } from '../../src/database/saved-query-store.ts'
import type { TestDatabase } from '../support/databases.ts'
import { BOMBS, HOSTILE_QUERIES, HOSTILE_TEXTS } from './hostile-statements.ts'
import { EMPTY_REQUEST, sqlProject, startSqlTest, type SqlFixture } from './sql-fixture.ts'

const own = sqlProject(911)
const foreign = sqlProject(912)
const { signal } = new AbortController()
const TIMEOUT_MS = 2000

let database: TestDatabase
let sql: SqlFixture
let stop: () => Promise<void>

beforeAll(async () => {
  const limits = { timeoutMs: TIMEOUT_MS, memoryBytesMax: 200_000_000, rowsReadMax: 1_000_000_000 }
  ;({ database, sql, stop } = await startSqlTest(own, foreign, limits))
})

afterAll(() => stop())

async function exportAs(format: ExportFormat, text: string): Promise<void> {
  const { bytes: file } = await sql.analytics.exportResult(
    own,
    { ...EMPTY_REQUEST, sql: text },
    format,
    signal,
  )
  for await (const _ of file);
}

/** The ways on which a text reaches the engine. */
const ENTRANCES = {
  execute: (text: string) => sql.run({ sql: text }),
  'execute with parameters': (text: string) =>
    sql.run({ sql: text, parameters: { t: 'system.one', x: 'id' } }),
  asynchronous: (text: string) =>
    sql.analytics.executions.start(own, { ...EMPTY_REQUEST, sql: text, idempotencyKey: null }),
  saved: (text: string) => sql.analytics.savedQueries.save(own, { ...EMPTY_REQUEST, name: 'x', sql: text }),
  'saved by an earlier version that let it pass': async (text: string) => {
    const [id, projectId] = ['query-of-before', own.id]
    const rest = { name: 'before', parameters: {}, pageSize: null, savedAt: 0 }
    await createSavedQueryStore(database.db).put({ id, projectId, sql: text, ...rest })
    return sql.run({ name: 'before' })
  },
  'as a file': (text: string) => exportAs('csv', text),
  'as a file of lines': (text: string) => exportAs('ndjson', text),
  'as a stream of Arrow': (text: string) => exportAs('arrow', text),
  'as a file of Parquet': (text: string) => exportAs('parquet', text),
  'a cursor': (text: string) => sql.run({ cursor: text }),
  'with a name for its run': (text: string) => sql.run({ sql: text, runId: 'hostile' }),
} as const

/** The places in a statement where another query may stand. */
const PLACES: readonly ((query: string) => string)[] = [
  (query) => `select * from (${query})`,
  (query) => `with q as (${query}) select count() from q`,
  (query) => `select 1 union all (${query})`,
  (query) => `select id from Transfer where id in (${query})`,
  (query) => `select (${query})`,
  (query) => `select exists(${query})`,
  (query) => `select * from view(${query})`,
  (query) => `select t.id from Transfer t join (${query}) q on 1 = 1`,
  (query) => `explain ${query}`,
  (query) => `explain query tree ${query}`,
]

/** The texts that were not refused as a mistake of the caller. */
async function accepted(
  texts: readonly string[],
  run: (text: string) => Promise<unknown>,
): Promise<string[]> {
  const found: string[] = []
  for (const text of texts) {
    const error = await run(text).then(
      () => null,
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof ServiceError && error.code === 'invalid_argument'))
      found.push(`${text} → ${String(error)}`)
  }
  return found
}

/** Whether a name exists, and what a value is, is known only when the statement runs. */
const isKnownLate = (text: string): boolean => /Nothing|event_Transfer$|Identifier\}|\$\$/.test(text)

it('knows more than 150 of them', () => {
  expect(HOSTILE_QUERIES.length + HOSTILE_TEXTS.length).toBeGreaterThan(250)
})

describe.each(Object.entries(ENTRANCES))('%s', (entrance, run) => {
  it('refuses every one (SQ-2)', { timeout: 120_000 }, async () => {
    const isLate = entrance === 'asynchronous' || entrance === 'saved'
    const texts = [...HOSTILE_QUERIES, ...HOSTILE_TEXTS].filter((text) => !isLate || !isKnownLate(text))
    expect(await accepted(texts, run)).toEqual([])
  })
})

it('refuses every one in every place of another statement (SQ-2)', { timeout: 300_000 }, async () => {
  const texts = HOSTILE_QUERIES.flatMap((query, n) =>
    [PLACES[n % PLACES.length], PLACES[(n * 7 + 3) % PLACES.length]].map((place) => place?.(query) ?? query),
  )
  expect(await accepted(texts, ENTRANCES.execute)).toEqual([])
})

it('explains none of them, in no way of explaining (SQ-2)', { timeout: 120_000 }, async () => {
  const kinds = [
    '',
    'ast',
    'syntax',
    'query tree',
    'plan',
    'pipeline',
    'estimate',
    'plan actions = 1, json = 1',
  ]
  const texts = HOSTILE_QUERIES.flatMap((query, n) =>
    [0, 3].map((step) => `explain ${kinds[(n + step) % kinds.length]} ${query}`),
  )
  expect(await accepted(texts, ENTRANCES.execute)).toEqual([])
})

it('ends bombs in time, and goes on (SQ-7)', { timeout: 180_000 }, async () => {
  for (const bomb of BOMBS) {
    const startedAt = performance.now()
    const code = await sql.run({ sql: bomb }).then(
      () => 'answered',
      (error: ServiceError) => error.code,
    )
    expect(['invalid_argument', 'resource_exhausted', 'deadline_exceeded', 'answered']).toContain(code)
    expect([bomb.slice(0, 80), performance.now() - startedAt < 5 * TIMEOUT_MS]).toEqual([
      bomb.slice(0, 80),
      true,
    ])
  }
  expect((await sql.run({ sql: 'select count() as n from Transfer' })).page.rows).toEqual([{ n: 1000 }])
})

it('has left everything as it was', async () => {
  const { page } = await sql.run({ sql: 'select count() as n, sum(id) as s from Transfer' })
  expect(page.rows).toEqual([{ n: 1000, s: 499_500 }])
})
