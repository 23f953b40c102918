import { expect, it } from 'vitest'
import { enqueueExports, withdrawExports } from '../../src/database/outbox.ts'
import { ServiceError } from '../../src/platform/errors.ts'
import { openSqlite } from '../support/databases.ts'
import { startTestEngine } from '../support/fact-engine.ts'
import { createTestProject, jsonBatch, startInstance, userRows } from './instance.ts'

const place = { chain: '1', blockNumber: 1, timestampMicros: 1_700_000_000_000_000 }
const records = [
  { type: 'event', name: 'Swap', attributes: { amount: 5 }, ...place },
  { type: 'gauge', name: 'price', value: 1, ...place },
  { type: 'upsert', name: 'Pool', id: 'a', attributes: { fee: 3 }, ...place },
  { type: 'export', name: 'e', channel: 'away', data: {}, ...place },
]

it('a batch that is refused for its exports at the very end leaves no record, and is stored once when it comes again (IN-2, IN-7)', async () => {
  const facts = await startTestEngine()
  const database = await openSqlite()
  let refusals = 1
  const ingest = startInstance({
    engine: facts.engine,
    database,
    exports: {
      // Another batch has filled the queue since this one was admitted.
      enqueueExports: async (...given) => {
        if (refusals-- > 0) throw new ServiceError('resource_exhausted', 'too much waits')
        return enqueueExports(...given)
      },
      withdrawExports,
    },
  })
  const project = await createTestProject(database)
  const count = async () => {
    const [row] = await userRows<{ n: string }>(
      facts.engine,
      project,
      'select (select count() from Swap) + (select count() from price) + (select count() from Pool) as n',
    )
    return Number(row?.n)
  }
  try {
    const batch = jsonBatch(records, 'the batch')
    await expect(ingest.accept(project, batch)).rejects.toMatchObject({ code: 'resource_exhausted' })
    expect(await count()).toBe(0)
    // What it has made room for takes it now, and what others send meanwhile without its attributes.
    const bare = { type: 'event', name: 'Swap', attributes: { note: 'x' }, ...place }
    expect(await ingest.accept(project, jsonBatch([bare]))).toMatchObject({ accepted: 1 })
    expect(await ingest.accept(project, batch)).toMatchObject({ accepted: 4, isRepeated: false })
    expect(await ingest.accept(project, batch)).toMatchObject({ accepted: 4, isRepeated: true })
    expect(await count()).toBe(4)
  } finally {
    await ingest.stop()
    await database.close()
    await facts.stop()
  }
})
