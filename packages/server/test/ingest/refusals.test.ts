import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Ingest } from '../../src/ingest/ingest.ts'
import type { Project } from '../../src/projects/project.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { createTestProject, startInstance, textBatch } from './instance.ts'

const place = { chain: '1', blockNumber: 1, timestampMicros: 1_700_000_000_000_000 }
const gauge = (name: string, labels: object = {}) => ({ type: 'gauge', name, value: 1, labels, ...place })
const event = (name: string, attributes: object = {}) => ({ type: 'event', name, attributes, ...place })
const entity = (name: string, attributes: object = {}) => ({
  type: 'upsert',
  name,
  id: '1',
  attributes,
  ...place,
})
const int = (digits: string) => ({ $int: digits })
const MOST = String(2n ** 256n - 1n)

/** What would be made by the records beside the one at fault. */
const beside = [
  gauge('new_metric', { a: 'b' }),
  gauge('price', { a: 'new series' }),
  event('NewLog', { x: 1 }),
  event('Transfer', { new_attribute: true }),
  event('Widening', { value: int(MOST) }),
  entity('NewEntity', { x: 1 }),
  entity('Account', { new_attribute: 'x' }),
  { type: 'export', name: 'e', channel: 'new_channel', data: {}, ...place },
]

/** Each with the field and the words of its fault; the records stand behind those of `beside`. */
const REFUSED: readonly (readonly [string, readonly object[], string, string])[] = [
  ['a malformed record', [{ type: 'nothing' }], 'type', 'must be one of'],
  [
    'an attribute of another kind',
    [event('Transfer', { amount: 'x' })],
    'attributes.amount',
    'is string, but',
  ],
  ['the same in an entity', [entity('Account', { balance: true })], 'attributes.balance', 'is boolean, but'],
  [
    'a value of two kinds',
    [event('Two', { a: 'x' }), event('Two', { a: 1 })],
    'attributes.a',
    'is number, but',
  ],
  [
    'too many attributes',
    [event('Wide', { a: 1, b: 2, c: 3, d: 4 })],
    'attributes.d',
    'more than 3 attributes',
  ],
  [
    'an unsigned beside negatives',
    [event('Signed', { value: int(MOST) })],
    'attributes.value',
    'holds negative',
  ],
  [
    'a negative beside unsigned',
    [event('Unsigned', { value: int('-1') })],
    'attributes.value',
    'is negative',
  ],
  [
    'one event log too many',
    [event('OneMore'), event('OneTooMany')],
    'name',
    'one more than the 6 event logs',
  ],
  ['one entity too many', [entity('OneTooMany')], 'name', 'one more than the 2 entities'],
  ['one metric too many', [gauge('one_too_many')], 'name', 'one more than the 3 metrics'],
  ['one series too many', [gauge('price', { a: 'one too many' })], 'labels', 'more than 2 series'],
  [
    'a metric of the other type',
    [{ ...gauge('price'), type: 'counter' }],
    'type',
    'is a gauge; it cannot be',
  ],
  [
    'a metric of both types',
    [gauge('new_metric'), { ...gauge('new_metric'), type: 'counter' }],
    'type',
    'cannot be',
  ],
  ['a log that is a metric', [event('price')], 'name', 'price is a metric'],
  ['a metric that is a log', [gauge('Transfer')], 'name', 'Transfer is an event log'],
  ['a log that is a history', [event('Account_history')], 'name', 'is the history of the entity Account'],
  ['a name of two things', [gauge('twice'), event('twice')], 'name', 'is used for a metric and an event log'],
]

describe('a batch that is refused', () => {
  let facts: TestEngine
  let database: TestDatabase
  let ingest: Ingest
  let project: Project

  beforeAll(async () => {
    facts = await startTestEngine()
    database = await openSqlite()
    project = await createTestProject(database)
    const limits = { maxSeriesPerMetric: 2, maxMetrics: 3, maxEventLogs: 6, maxEntities: 2, maxAttributes: 3 }
    ingest = startInstance({ engine: facts.engine, database, limits })
    await send(
      [
        gauge('price'),
        gauge('kept'),
        event('Transfer', { amount: int('1') }),
        event('Widening', { value: int('1') }),
        event('Signed', { value: int('-1') }),
        event('Unsigned', { value: int(MOST) }),
        entity('Account', { balance: int('1') }),
      ],
      'before',
    )
  })
  afterAll(async () => {
    await ingest.stop()
    await database.close()
    await facts.stop()
  })

  const send = (records: readonly object[], batchId: string) =>
    ingest.accept(
      project,
      textBatch(
        records.map((record) => JSON.stringify(record)).join('\n\n'),
        batchId,
        'application/x-ndjson',
      ),
    )

  /** Everything that a batch may have made, rows included. */
  async function traces(): Promise<unknown> {
    const parameters = { pattern: `millrace_p${project.id}_%` }
    const of = (sql: string) => facts.engine.rows(sql, { parameters })
    return {
      tables: await of(
        'select database, name, create_table_query from system.tables where database like {pattern:String} order by all',
      ),
      columns: await of(
        'select database, table, name, type from system.columns where database like {pattern:String} order by all',
      ),
      rows: await of(
        `select table, sum(rows) as n from system.parts where active and database like {pattern:String} group by table order by table`,
      ),
      batches: await database.db.selectFrom('ingest_batch').selectAll().execute(),
      channels: await database.db.selectFrom('webhook_lane').select('name').execute(),
    }
  }

  it.each(REFUSED)(
    'for %s names record, line, field and reason, and leaves nothing behind (IN-2)',
    async (_what, records, field, message) => {
      const before = await traces()
      const all = [...beside, ...records]
      const index = all.length - 1
      const refused = await ingest
        .accept(project, textBatch(JSON.stringify({ records: all }), 'refused'))
        .catch((error: unknown) => error)
      expect(refused).toMatchObject({
        code: 'invalid_argument',
        message: expect.stringContaining(`records[${index}]: ${field} `),
        details: expect.arrayContaining([expect.objectContaining({ index, field })]),
      })
      expect((refused as Error).message).toContain(message)
      expect(await traces()).toEqual(before)
      // As lines, with a blank one between each two.
      await expect(send(all, 'lines')).rejects.toThrow(`line ${index * 2 + 1}: ${field} `)
      expect(await traces()).toEqual(before)
    },
  )
})
