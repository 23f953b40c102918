import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Ingest } from '../../src/ingest/ingest.ts'
import type { Project } from '../../src/projects/project.ts'
import { SUM } from '../../src/clickhouse/fixed-point.ts'
import { HOURLY_PROJECTION } from '../../src/clickhouse/series-source-rollup.ts'
import { versionDatabases } from '../../src/clickhouse/layout.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import type { TestEngine } from '../support/fact-engine.ts'
import { jsonBatch, startIngestFixture } from './instance.ts'

const HOUR_MICROS = 3_600_000_000
/** The expression of the hour that the projection groups by. */
const HOUR = /intDiv\(.*?\) as hour/.exec(HOURLY_PROJECTION)?.[0] ?? ''

/** Months count from 0. */
const partitionOf = (month: number) => `2026${String(month + 1).padStart(2, '0')}`

describe('what is derived from samples, after a rollback', () => {
  let facts: TestEngine
  let database: TestDatabase
  let ingest: Ingest
  let project: Project
  let stop: () => Promise<void>

  beforeAll(async () => {
    ;({ facts, database, ingest, project, stop } = await startIngestFixture(openSqlite))
  })

  afterAll(() => stop())

  /** Samples of ten series, one a block, which is a quarter of an hour. */
  const store = (first: number, end: number, month: number) =>
    ingest.accept(
      project,
      jsonBatch(
        Array.from({ length: (end - first) * 10 }, (_, i) => ({
          type: 'gauge',
          name: `g${month}`,
          value: i,
          labels: { series: String(i % 10) },
          chain: String(month),
          blockNumber: first + Math.floor(i / 10),
          timestampMicros: Date.UTC(2026, month, 1) * 1000 + ((first + Math.floor(i / 10)) * HOUR_MICROS) / 4,
        })),
      ),
    )

  const factsDatabase = () => versionDatabases(project.id, 1).facts

  /** The sums of all hours of a month, whose metric has a name of its own, from what the engine keeps of them if it may. */
  const hours = (month: number, usesProjection: boolean) =>
    facts.engine.rows<{ n: string }>(
      `select metric, ${HOUR}, series_id, countIf(isFinite(value)) as n, ${SUM.near} as s
       from points where metric = 'g${month}' group by metric, hour, series_id order by all`,
      { database: factsDatabase(), settings: { optimize_use_projections: usesProjection ? 1 : 0 } },
    )

  const parts = (month: number) =>
    facts.engine.rows<{ hasHours: number }>(
      `select has(projections, 'hours') as hasHours from system.parts
       where database = {facts:String} and table = 'points' and active and rows > 0 and partition_id = {id:String}`,
      { parameters: { facts: factsDatabase(), id: partitionOf(month) } },
    )

  const merge = () => facts.engine.command(`optimize table ${factsDatabase()}.points final`)

  it.each([
    { form: 'in one file', month: 5, minBytes: 10_000_000 },
    { form: 'in a file a column', month: 6, minBytes: 0 },
  ])(
    'hours are those of the samples at every step: stored, merged, rolled back, merged again; parts $form (IN-3)',
    async ({ month, minBytes }) => {
      const chain = String(month)
      const check = async (blocks: number) => {
        const kept = await hours(month, true)
        expect(kept).toEqual(await hours(month, false))
        expect(kept.reduce((sum, { n }) => sum + Number(n), 0)).toBe(blocks * 10)
      }
      const rollBack = (blockNumber: number) =>
        ingest.rollBack(project, { chain, blockNumber, version: null })
      await store(0, 300, month)
      await facts.engine.command(
        `alter table ${factsDatabase()}.points modify setting min_bytes_for_wide_part = ${minBytes}`,
      )
      await check(300)
      await merge()
      await check(300)
      await rollBack(199)
      await check(200)
      expect(await parts(month)).toEqual([{ hasHours: 0 }])
      await store(200, 250, month)
      await check(250)
      await merge()
      await check(250)
      expect(await parts(month)).toEqual([{ hasHours: 1 }])
      await rollBack(239)
      await rollBack(229)
      await check(230)
      // Nothing is under way any more that could make hours of what is gone.
      await facts.engine.command(`alter table ${factsDatabase()}.points delete where 0`, {
        settings: { mutations_sync: 2 },
      })
      await check(230)
    },
  )

  it('hours that count samples in that are gone are made anew at the next start, and what was answered from them is due (IN-3, CA-6)', async () => {
    const [month, chain] = [8, '8']
    await store(0, 300, month)
    await facts.engine.command(
      `alter table ${factsDatabase()}.points modify setting min_bytes_for_wide_part = 0`,
    )
    await store(300, 600, month)
    await merge()
    await ingest.rollBack(project, { chain, blockNumber: 199, version: null })
    // As builds before the first release did after a rollback.
    await facts.engine.command(
      `alter table ${factsDatabase()}.points materialize projection hours in partition id '${partitionOf(month)}'`,
      { settings: { mutations_sync: 2 } },
    )
    expect(await hours(month, true)).not.toEqual(await hours(month, false))
    const raised = () =>
      database.db
        .selectFrom('data_version')
        .select('whole')
        .where('project_id', '=', project.id)
        .executeTakeFirstOrThrow()
    const before = await raised()
    // As the service does when it starts.
    await ingest.mend()
    expect((await raised()).whole).toBeGreaterThan(before.whole)
    expect(await hours(month, true)).toEqual(await hours(month, false))
    expect(await parts(month)).toEqual([{ hasHours: 1 }])
  })

  it('hours that an earlier build made are read as samples until they are made anew at the next start, of versions too that nobody writes to (CA-6)', async () => {
    const month = 9
    const table = `${factsDatabase()}.points`
    await store(0, 300, month)
    await facts.engine.command(`alter table ${table} drop projection hours settings mutations_sync = 2`)
    await facts.engine.command(
      `alter table ${table} add projection hourly (select metric, ${HOUR}, series_id, sumKahanIf(value, isFinite(value)) group by metric, hour, series_id)`,
    )
    await facts.engine.command(
      `alter table ${table} materialize projection hourly settings mutations_sync = 2`,
    )
    await ingest.rollBack(project, { chain: String(month), blockNumber: 249, version: null })
    const expected = await hours(month, false)
    expect(await hours(month, true)).toEqual(expected)
    expect(await parts(month)).toContainEqual({ hasHours: 0 })
    await ingest.mend()
    expect(new Set((await parts(month)).map(({ hasHours }) => hasHours))).toEqual(new Set([1]))
    expect(await hours(month, true)).toEqual(expected)
    const [definition] = await facts.engine.rows<{ sql: string }>(
      `select create_table_query as sql from system.tables where database = {facts:String} and table = 'points'`,
      { parameters: { facts: factsDatabase() } },
    )
    expect(definition?.sql).not.toContain('PROJECTION hourly')
    expect(definition?.sql).toContain('PROJECTION hours')
  })

  it('removes samples of times before 1970 and after 2105 too (IN-3)', async () => {
    const at = (year: number) => ({
      type: 'gauge',
      name: 'far',
      value: year,
      chain: 'far',
      blockNumber: year,
      timestampMicros: Date.UTC(year, 1, 1) * 1000,
    })
    await ingest.accept(project, jsonBatch([1950, 1969, 1990, 2030, 2100, 2150, 2200].map(at)))
    await ingest.rollBack(project, { chain: 'far', blockNumber: 1960, version: null })
    expect(
      await facts.engine.rows(`select value from points where chain = 'far' order by value`, {
        database: factsDatabase(),
      }),
    ).toEqual([{ value: 1950 }])
  })
})
