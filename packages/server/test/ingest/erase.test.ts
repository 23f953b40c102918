import { afterAll, beforeAll, expect, it } from 'vitest'
import { createFactStore } from '../../src/clickhouse/fact-store.ts'
import { versionDatabases } from '../../src/clickhouse/layout.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'

const version = { projectId: 7, version: 1 }
const { facts: database } = versionDatabases(7, 1)
const empty = {
  recordCount: 0,
  samples: [],
  series: new Set<never>(),
  metadata: new Map(),
  entities: new Map(),
  exports: [],
}

let facts: TestEngine

beforeAll(async () => {
  facts = await startTestEngine()
})

afterAll(async () => {
  await facts.stop()
})

const count = async () => {
  const [row] = await facts.engine.rows<{ n: string }>('select count() as n from points where batch = 77', {
    database,
  })
  return row?.n
}

it('takes back also what an insert that still runs is about to store (IN-2)', async () => {
  const store = createFactStore(facts.engine)
  await store.prepare(version, { ...empty, events: new Map([['E', []]]) })
  const slow = facts.engine.command(
    `insert into ${database}.points (metric, series_id, timestamp, value, chain, block_number, ordinal, batch)
     select 'slow', 1, now64(6), 1, '1', 1, 1, 77 from numbers(8) where sleepEachRow(0.1) = 0`,
  )
  const isRunning = async () => {
    const rows = await facts.engine.rows(
      "select 1 from system.processes where position(query, 'slow') > 0 and query_kind = 'Insert'",
    )
    return rows.length > 0
  }
  await expect.poll(isRunning, { interval: 10 }).toBe(true)
  await store.erase(version, [77], ['points', 'event_gone'])
  await slow
  expect(await count()).toBe('0')
})

it('removes a project with all its versions, and no other', async () => {
  const store = createFactStore(facts.engine)
  for (const projectId of [7, 77])
    await store.prepare({ projectId, version: 2 }, { ...empty, events: new Map([['E', []]]) })
  await store.dropProject(7)
  const rows = await facts.engine.rows<{ name: string }>(
    "select name from system.databases where name like 'millrace%' order by name",
  )
  expect(rows.map(({ name }) => name)).toEqual(['millrace_p77_v2', 'millrace_p77_v2_facts'])
})

it('what a rollback has emptied leaves the disk with the next merge, however large it was (IN-3)', async () => {
  const deep = { projectId: 8, version: 1 }
  const { facts: target } = versionDatabases(8, 1)
  const store = createFactStore(facts.engine)
  await store.prepare(deep, { ...empty, events: new Map([['E', []]]) })
  const insert = (block: number, rows: number) =>
    facts.engine.command(
      `insert into ${target}.points (metric, series_id, timestamp, value, chain, block_number, ordinal, batch)
       select 'm', number, '2026-01-01', rand64(number), '1', ${block}, number, ${block} from numbers(${rows})`,
    )
  const merge = () => facts.engine.command(`optimize table ${target}.points`)
  const rowsOnDisk = async () => {
    const [row] = await facts.engine.rows<{ n: string }>(
      `select sum(rows) as n from system.parts where database = '${target}' and table = 'points' and active`,
    )
    return Number(row?.n)
  }
  await insert(5, 20_000)
  // Smaller than what is stored, as the limit of eight megabytes is where there is much of it.
  await facts.engine.command(
    `alter table ${target}.points modify setting max_bytes_to_merge_at_max_space_in_pool = 100000`,
  )
  await store.rollBack(deep, { chain: '1', aboveBlock: 4, beforeSequence: 100 })
  expect(await rowsOnDisk()).toBe(20_000)
  await insert(4, 10)
  await merge()
  expect(await rowsOnDisk()).toBe(10)
})
