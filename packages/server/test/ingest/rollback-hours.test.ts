import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Ingest } from '../../src/ingest/ingest.ts'
import type { Project } from '../../src/projects/project.ts'
import { HOURLY_PROJECTION } from '../../src/clickhouse/series-source-rollup.ts'
import { versionDatabases } from '../../src/clickhouse/layout.ts'
import { openSqlite } from '../support/databases.ts'
import type { TestEngine } from '../support/fact-engine.ts'
import { jsonBatch, startIngestFixture } from './instance.ts'

const HOUR_MICROS = 3_600_000_000
/** The expression of the hour that the projection groups by. */
const HOUR = /intDiv\(.*?\) as hour/.exec(HOURLY_PROJECTION)?.[0] ?? ''

describe('what is derived from samples, after a rollback', () => {
  let facts: TestEngine
  let ingest: Ingest
  let project: Project
  let stop: () => Promise<void>

  beforeAll(async () => {
    ;({ facts, ingest, project, stop } = await startIngestFixture(openSqlite))
  })

  afterAll(() => stop())

  /** Samples of ten series, one a block, which is a quarter of an hour. */
  const store = (first: number, end: number, month = 5) =>
    ingest.accept(
      project,
      jsonBatch(
        Array.from({ length: (end - first) * 10 }, (_, i) => ({
          type: 'gauge',
          name: 'g',
          value: i,
          labels: { series: String(i % 10) },
          chain: '1',
          blockNumber: first + Math.floor(i / 10),
          timestampMicros: Date.UTC(2026, month, 1) * 1000 + ((first + Math.floor(i / 10)) * HOUR_MICROS) / 4,
        })),
      ),
    )

  const factsDatabase = () => versionDatabases(project.id, 1).facts

  /** The sums of all hours, from what the engine keeps of them if it may. */
  const hours = (usesProjection: boolean) =>
    facts.engine.rows<{ hour: string }>(
      `select metric, ${HOUR}, series_id, countIf(isFinite(value)) as n, sumKahanIf(value, isFinite(value)) as s
       from points group by metric, hour, series_id order by all`,
      { database: factsDatabase(), settings: { optimize_use_projections: usesProjection ? 1 : 0 } },
    )

  const merge = () => facts.engine.command(`optimize table ${factsDatabase()}.points final`)

  it('hours are those of the samples at every step: stored, merged, rolled back, merged again (IN-3)', async () => {
    const check = async (blocks: number) => {
      const kept = await hours(true)
      expect(kept).toEqual(await hours(false))
      expect(kept.reduce((sum, row) => sum + Number((row as unknown as { n: string }).n), 0)).toBe(
        blocks * 10,
      )
    }
    await store(0, 300)
    await check(300)
    await merge()
    await check(300)
    await ingest.rollBack(project, { chain: '1', blockNumber: 199, version: null })
    await check(200)
    await store(200, 250)
    await check(250)
    await merge()
    await check(250)
    await ingest.rollBack(project, { chain: '1', blockNumber: 239, version: null })
    await ingest.rollBack(project, { chain: '1', blockNumber: 229, version: null })
    await check(230)
  })

  it('hours are made anew after the rollback has answered, so that queries find them again', async () => {
    // The engine makes no hours of small parts in one file: they are read as samples until they are merged.
    await facts.engine.command(
      `alter table ${factsDatabase()}.points modify setting min_bytes_for_wide_part = 0`,
    )
    await store(250, 251)
    await merge()
    await ingest.rollBack(project, { chain: '1', blockNumber: 219, version: null })
    const parts = () =>
      facts.engine.rows(
        `select has(projections, 'hourly') as has_hours from system.parts
         where database = {facts:String} and table = 'points' and active and rows > 0`,
        { parameters: { facts: factsDatabase() } },
      )
    await expect.poll(parts, { timeout: 20_000 }).toEqual([{ has_hours: 1 }])
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
