import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { versionDatabases } from '../../src/clickhouse/layout.ts'
import type { Ingest } from '../../src/ingest/ingest.ts'
import type { Project } from '../../src/projects/project.ts'
import { openSqlite } from '../support/databases.ts'
import type { TestEngine } from '../support/fact-engine.ts'
import { jsonBatch, startIngestFixture, userRows } from './instance.ts'

const at = { chain: '1', blockNumber: 1, timestampMicros: 1_700_000_000_000_000 }
const sample = (value: number) => jsonBatch([{ type: 'gauge', name: 'price', value, ...at }])

describe('a month of more samples than the engine has parts for', () => {
  let facts: TestEngine
  let ingest: Ingest
  let project: Project
  let stop: () => Promise<void>

  beforeAll(async () => {
    ;({ facts, ingest, project, stop } = await startIngestFixture(openSqlite))
    await ingest.accept(project, sample(0))
  })

  afterAll(() => stop())

  it('takes further ones: parts that are as large as they get do not count (IN-2)', async () => {
    const points = `${versionDatabases(project.id, 1).facts}.points`
    const command = (sql: string) => facts.engine.command(sql)
    await command(`system stop merges ${points}`)
    await command(`alter table ${points} modify setting parts_to_delay_insert = 3, parts_to_throw_insert = 4`)
    for (let part = 0; part < 5; part++) {
      await command(
        `insert into ${points} select 'other', number, fromUnixTimestamp64Micro(${at.timestampMicros}), 0, randomString(500), '1', 1, 0, 0 from numbers(12000)`,
      )
    }
    for (let value = 1; value < 3; value++) await ingest.accept(project, sample(value))
    const rows = await userRows(facts.engine, project, 'select value from price order by value')
    expect(rows).toEqual([{ value: 0 }, { value: 1 }, { value: 2 }])
  })
})
