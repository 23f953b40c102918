import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Ingest } from '../../src/ingest/ingest.ts'
import type { Project } from '../../src/projects/project.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import type { TestEngine } from '../support/fact-engine.ts'
import { createTestProject, jsonBatch, startIngestFixture, userRows } from './instance.ts'

const at = (blockNumber: number) => ({
  chain: '1',
  blockNumber,
  timestampMicros: 1_700_000_000_000_000 + blockNumber * 12_000_000,
})
const upsert = (blockNumber: number, id: string, attributes: object, more: object = {}) => ({
  type: 'upsert',
  name: 'Account',
  id,
  attributes,
  ...at(blockNumber),
  ...more,
})
const end = (blockNumber: number, id: string) => ({ type: 'delete', name: 'Account', id, ...at(blockNumber) })

describe('entities', () => {
  let facts: TestEngine
  let database: TestDatabase
  let ingest: Ingest
  let project: Project
  let stop: () => Promise<void>

  beforeAll(async () => {
    ;({ facts, database, ingest, project, stop } = await startIngestFixture(openSqlite))
  })

  afterAll(() => stop())

  const rows = <Row = Record<string, unknown>>(sql: string, of = project) =>
    userRows<Row>(facts.engine, of, sql)
  const accounts = (of = project) =>
    rows<{ id: string; b: string | null }>(
      'select id, toString(balance) as b from Account order by id',
      of,
    ).then((found) => found.map(({ id, b }) => `${id}=${b}`))

  it('are tables of their present state, and of every state with its place (IN-1, SQ-1)', async () => {
    const most = String(2n ** 256n - 1n)
    await ingest.accept(
      project,
      jsonBatch([
        upsert(1, 'a', { balance: { $int: '1' }, chain: 'mine', tags: ['x', null], timestamp: 5 }),
        upsert(2, 'a', { balance: { $int: most } }),
        upsert(2, 'b', { balance: { $int: '7' } }),
        end(3, 'b'),
      ]),
    )
    expect(
      await rows('select id, balance, chain, tags, __chain, __block_number, __timestamp from Account'),
    ).toEqual([
      {
        id: 'a',
        balance: most,
        chain: null,
        tags: null,
        __chain: '1',
        __block_number: '2',
        __timestamp: '2023-11-14 22:13:44.000000',
      },
    ])
    expect(
      await rows(
        'select id, toString(balance) as balance, chain, tags, timestamp, __block_number as b, __deleted as d from Account_history order by id, b',
      ),
    ).toEqual([
      { id: 'a', balance: '1', chain: 'mine', tags: '["x",null]', timestamp: 5, b: '1', d: false },
      { id: 'a', balance: most, chain: null, tags: null, timestamp: null, b: '2', d: false },
      { id: 'b', balance: '7', chain: null, tags: null, timestamp: null, b: '2', d: false },
      { id: 'b', balance: null, chain: null, tags: null, timestamp: null, b: '3', d: true },
    ])
  })

  it('show the state before again when a chain is rolled back, and only of that chain (IN-3)', async () => {
    const own = await createTestProject(database)
    await ingest.accept(
      own,
      jsonBatch([
        upsert(1, 'a', { balance: 1 }),
        upsert(1, 'b', { balance: 2 }),
        upsert(1, 'b', { balance: 20 }, { chain: '2' }),
      ]),
    )
    await ingest.accept(
      own,
      jsonBatch([
        upsert(2, 'a', { balance: 3 }),
        end(2, 'b'),
        upsert(2, 'c', { balance: 4 }),
        upsert(2, 'b', { balance: 30 }, { chain: '2' }),
      ]),
    )
    expect(await accounts(own)).toEqual(['a=3', 'b=30', 'c=4'])
    await ingest.rollBack(own, { chain: '1', blockNumber: 1, version: null })
    expect((await accounts(own)).toSorted()).toEqual(['a=1', 'b=2', 'b=30'])
    await ingest.accept(own, jsonBatch([upsert(2, 'a', { balance: 5 })]))
    expect((await accounts(own)).toSorted()).toEqual(['a=5', 'b=2', 'b=30'])
  })

  it('end up the same in whatever order their changes come (IN-1)', async () => {
    const changes = [
      upsert(1, 'a', { balance: 1 }, { transactionIndex: 1, logIndex: 2 }),
      upsert(1, 'a', { balance: 2 }, { transactionIndex: 2, logIndex: 0 }),
      upsert(4, 'a', { balance: 3 }),
      upsert(1, 'b', { balance: 4 }, { logIndex: 1 }),
      { ...end(1, 'b'), logIndex: 7 },
      end(2, 'c'),
      upsert(3, 'c', { balance: 5 }),
    ]
    const inOrder = await createTestProject(database)
    const backwards = await createTestProject(database)
    await ingest.accept(inOrder, jsonBatch(changes))
    for (const change of changes.toReversed()) await ingest.accept(backwards, jsonBatch([change]))
    expect(await accounts(inOrder)).toEqual(['a=3', 'c=5'])
    expect(await accounts(backwards)).toEqual(['a=3', 'c=5'])
  })

  it('take the last of several changes in one place: by position in a batch, then by arrival', async () => {
    const own = await createTestProject(database)
    await ingest.accept(own, jsonBatch([upsert(1, 'a', { balance: 1 }), upsert(1, 'a', { balance: 2 })]))
    expect(await accounts(own)).toEqual(['a=2'])
    await ingest.accept(own, jsonBatch([upsert(1, 'a', { balance: 3 })]))
    expect(await accounts(own)).toEqual(['a=3'])
  })

  it('refuse ids and attributes that cannot be, each by name', async () => {
    const refusal = async (record: object) =>
      ingest.accept(project, jsonBatch([record])).then(
        () => 'accepted',
        (error: unknown) => (error as Error).message,
      )
    expect(await refusal({ ...upsert(1, '', {}) })).toContain('records[0]: id is required')
    expect(await refusal({ ...upsert(1, 'x'.repeat(1025), {}) })).toContain(
      'id has more than 1024 characters',
    )
    expect(await refusal(upsert(1, 'a', { id: 'a' }))).toContain('attributes.id is the id of the entity')
    expect(await refusal(upsert(1, 'a', { __chain: 'a' }))).toContain('attributes.__chain is reserved')
    expect(await refusal(upsert(1, 'a', { balance: 'text' }))).toContain(
      'attributes.balance is string, but the attribute balance of the entity Account is uint',
    )
  })

  it('have names that nothing else has, their history included (SQ-1)', async () => {
    const own = await createTestProject(database)
    const refusal = async (...records: object[]) =>
      ingest.accept(own, jsonBatch(records)).then(
        () => 'accepted',
        (error: unknown) => (error as Error).message,
      )
    const gauge = (name: string) => ({ type: 'gauge', name, value: 1, ...at(1) })
    const event = (name: string) => ({ type: 'event', name, ...at(1) })
    const entity = (name: string) => ({ type: 'upsert', name, id: '1', ...at(1) })
    expect(await refusal(gauge('g'), event('e'), entity('n'), gauge('m_history'), entity('o_history'))).toBe(
      'accepted',
    )
    expect(await refusal(entity('g'))).toContain('records[0]: name g is a metric; an entity of the project')
    expect(await refusal(entity('e'))).toContain('records[0]: name e is an event log; an entity')
    expect(await refusal(entity('m'))).toContain(
      'm has the history m_history; the name m_history is a metric; an entity',
    )
    expect(await refusal(entity('o'))).toContain(
      'records[0]: name o needs the name o_history for its history',
    )
    expect(await refusal(event('n'))).toContain('name n is an entity; an event log')
    expect(await refusal(event('n_history'))).toContain('name n_history is the history of the entity n')
    expect(await refusal(entity('n_history'))).toContain('name n_history is the history of the entity n')
    expect(await refusal(gauge('n_history'))).toContain('name n_history is the history of the entity n')
    expect(await refusal(gauge('q_history'), entity('q'))).toContain(
      'records[1]: name q_history is used for a metric and the history of q',
    )
  })
})
