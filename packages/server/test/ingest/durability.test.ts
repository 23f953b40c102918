import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DURABLE, versionDatabases } from '../../src/clickhouse/layout.ts'
import type { Ingest } from '../../src/ingest/ingest.ts'
import type { Project } from '../../src/projects/project.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import type { TestEngine } from '../support/fact-engine.ts'
import { jsonBatch, startIngestFixture, startInstance } from './instance.ts'

const at = { chain: '1', blockNumber: 1, timestampMicros: 1_700_000_000_000_000 }
const everySort = (value: number) =>
  jsonBatch([
    { type: 'gauge', name: 'price', value, ...at },
    { type: 'event', name: 'Sold', attributes: { value }, ...at },
    { type: 'upsert', name: 'Shop', id: 'a', attributes: { value }, ...at },
  ])

describe('what was answered survives a power cut (IN-2)', () => {
  let facts: TestEngine
  let database: TestDatabase
  let ingest: Ingest
  let project: Project
  let stop: () => Promise<void>

  beforeAll(async () => {
    ;({ facts, database, ingest, project, stop } = await startIngestFixture(openSqlite))
    await ingest.accept(project, everySort(1))
  })

  afterAll(() => stop())

  const factsDatabase = () => versionDatabases(project.id, 1).facts

  /** For each table, whether it waits for the disk after inserts, after what replaces their files, and for the folders of both. */
  const tables = async () => {
    const rows = await facts.engine.rows<{ name: string; statement: string }>(
      `select name, create_table_query as statement from system.tables where database = {facts:String} order by name`,
      { parameters: { facts: factsDatabase() } },
    )
    const settings = DURABLE.split(', ')
    return rows.map(({ name, statement }) => [name, settings.every((each) => statement.includes(each))])
  }
  const OF_EARLIER_BUILDS = ['entity_Shop', 'event_Sold', 'points', 'series']
  const ALL_DURABLE = [...OF_EARLIER_BUILDS, 'metric_metadata'].toSorted().map((name) => [name, true])

  it('because the engine waits for the disk before it answers an insert and before it removes what it has merged', async () => {
    expect(DURABLE.split(' = 1').length - 1).toBe(3)
    expect(await tables()).toEqual(ALL_DURABLE)
  })

  it('in tables of builds that did not wait for merges too, from the first batch on', async () => {
    for (const name of OF_EARLIER_BUILDS) {
      await facts.engine.command(
        `alter table ${factsDatabase()}.${name} reset setting min_rows_to_fsync_after_merge`,
      )
    }
    expect(await tables()).not.toEqual(ALL_DURABLE)
    const later = startInstance({ engine: facts.engine, database })
    await later.accept(project, everySort(2))
    await later.stop()
    expect(await tables()).toEqual(ALL_DURABLE)
  })
})
