import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Ingest } from '../../src/ingest/ingest.ts'
import type { Project } from '../../src/projects/project.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { createTestProject, startInstance, textBatch } from './instance.ts'

/** Read in several turns of the event loop, while what is small is read in one. */
const LARGE_RECORDS = 4000

let facts: TestEngine
let database: TestDatabase
let ingest: Ingest
let project: Project
let begun: string[] = []
let whenViewIsMade: () => Promise<void> = () => Promise.resolve()

beforeAll(async () => {
  facts = await startTestEngine()
  database = await openSqlite()
  ingest = startInstance({
    engine: {
      ...facts.engine,
      command: async (sql, options) => {
        if (sql.startsWith('create view')) await whenViewIsMade()
        await facts.engine.command(sql, options)
      },
    },
    database,
    wrapBatches: (store) => ({
      ...store,
      begin: (version, batches, lease) => {
        begun.push(...batches.map(({ batchId }) => batchId))
        return store.begin(version, batches, lease)
      },
      beginRollback: (...rollback) => {
        begun.push('rollback')
        return store.beginRollback(...rollback)
      },
    }),
  })
})

beforeEach(async () => {
  begun = []
  whenViewIsMade = () => Promise.resolve()
  project = await createTestProject(database)
})

afterAll(async () => {
  await ingest.stop()
  await database.close()
  await facts.stop()
})

function send(batchId: string, records: number, given: object = {}) {
  const line = (block: number) =>
    JSON.stringify({
      type: 'gauge',
      name: 'g',
      value: block,
      blockNumber: block,
      timestampMicros: 1.8e15 + block,
      ...given,
    })
  const body = Array.from({ length: records }, (_, block) => line(block)).join('\n')
  return ingest.accept(project, textBatch(body, batchId, 'application/x-ndjson'))
}

it('a small batch does not wait until a large one that came before it is read', async () => {
  await Promise.all([send('large', LARGE_RECORDS, { chain: '1' }), send('small', 1, { chain: '1' })])
  expect(begun).toEqual(['small', 'large'])
})

it.each([
  ['samples without a chain', {}],
  ['exports', { type: 'export', name: 'e', channel: 'c', data: {}, chain: '1' }],
])('but one with %s does, as these are ordered by arrival (IN-1, DL-3)', async (_, given) => {
  await Promise.all([send('large', LARGE_RECORDS), send('small', 1, given)])
  expect(begun).toEqual(['large', 'small'])
})

it('a rollback waits for what came before it, and what comes behind it waits for the rollback (IN-3)', async () => {
  await Promise.all([
    send('large', LARGE_RECORDS, { chain: '1' }),
    ingest.rollBack(project, { chain: '1', blockNumber: 2, version: null }),
    send('small', 1, { chain: '1' }),
  ])
  expect(begun).toEqual(['large', 'rollback', 'small'])
})

it('a batch of series that are known does not wait until those that are new in another are made', async () => {
  await send('first', 1, { chain: '1' })
  const asked = Promise.withResolvers<void>()
  const made = Promise.withResolvers<void>()
  whenViewIsMade = () => {
    asked.resolve()
    return made.promise
  }
  const large = send('large', LARGE_RECORDS, { chain: '1', name: 'new' })
  await asked.promise
  expect(await send('small', 1, { chain: '1' })).toMatchObject({ accepted: 1 })
  made.resolve()
  expect(await large).toMatchObject({ accepted: LARGE_RECORDS })
})
