import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Ingest } from '../../src/ingest/ingest.ts'
import type { Project } from '../../src/projects/project.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import type { TestEngine } from '../support/fact-engine.ts'
import { createTestProject, jsonBatch, startIngestFixture, userRows } from './instance.ts'

const records = (chain: string, blockNumber: number) =>
  [
    { type: 'gauge', name: 'g', value: blockNumber },
    { type: 'event', name: 'E', attributes: { n: blockNumber } },
    { type: 'export', name: 'x', channel: 'ch', data: blockNumber },
  ].map((record) => ({
    ...record,
    chain,
    blockNumber,
    timestampMicros: 1_700_000_000_000_000 + blockNumber * 12_000_000,
  }))

describe.each(controlDatabases)('rollback with $name', ({ open }) => {
  let facts: TestEngine
  let database: TestDatabase
  let ingest: Ingest
  let project: Project
  let stop: () => Promise<void>

  beforeAll(async () => {
    ;({ facts, database, ingest, project, stop } = await startIngestFixture(open))
  })

  afterAll(() => stop())

  const blocks = (sql: string) =>
    userRows<{ chain: string; b: string }>(facts.engine, project, sql).then((rows) =>
      rows.map(({ chain, b }) => `${chain}:${b}`),
    )
  const metricBlocks = () => blocks('select chain, block_number as b from g order by chain, b')
  const eventBlocks = () => blocks('select chain, block_number as b from E order by chain, b')

  it('removes every record of the chain above the block, and nothing else (IN-3)', async () => {
    for (const block of [1, 2, 3, 4]) await ingest.accept(project, jsonBatch(records('1', block)))
    for (const block of [3, 4]) await ingest.accept(project, jsonBatch(records("o'ther\\", block)))
    const answer = await ingest.rollBack(project, { chain: '1', blockNumber: 2, version: null })
    expect(answer).toEqual({ version: 1, withdrawnExports: 2 })
    const left = ['1:1', '1:2', "o'ther\\:3", "o'ther\\:4"]
    expect(await metricBlocks()).toEqual(left)
    expect(await eventBlocks()).toEqual(left)
  })

  it('may be repeated, and be of a chain that is not there', async () => {
    const nothing = { version: 1, withdrawnExports: 0 }
    expect(await ingest.rollBack(project, { chain: '1', blockNumber: 2, version: null })).toEqual(nothing)
    expect(await ingest.rollBack(project, { chain: 'none', blockNumber: 0, version: 1 })).toEqual(nothing)
    expect(await metricBlocks()).toHaveLength(4)
  })

  it('keeps its place among the batches around it (IN-3)', async () => {
    const done = [
      ingest.accept(project, jsonBatch(records('seq', 1))),
      ingest.accept(project, jsonBatch(records('seq', 2))),
      ingest.rollBack(project, { chain: 'seq', blockNumber: 0, version: null }),
      ingest.accept(project, jsonBatch(records('seq', 1))),
    ]
    await Promise.all(done)
    expect((await metricBlocks()).filter((block) => block.startsWith('seq'))).toEqual(['seq:1'])
  })

  it('works on a project that has no data, and refuses a version that does not exist', async () => {
    const empty = await createTestProject(database)
    expect(await ingest.rollBack(empty, { chain: '1', blockNumber: 0, version: null })).toMatchObject({
      withdrawnExports: 0,
    })
    await expect(ingest.rollBack(project, { chain: '1', blockNumber: 0, version: 7 })).rejects.toThrow(
      'version 7 does not exist; the newest is 1',
    )
  })
})
