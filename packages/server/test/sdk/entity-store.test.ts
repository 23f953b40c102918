import {
  createProcessor,
  Entity,
  ExactDecimal,
  type Context,
  type EntityFilter,
  type Processor,
} from '@millrace/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

interface AccountRow {
  readonly id: string
  readonly owner?: string
  readonly balance?: bigint
  readonly rate?: number
  readonly active?: boolean
  readonly since?: Date
  readonly tags?: unknown
}
const Account = Entity.register<AccountRow & Record<string, unknown>>('Account')

let service: TestService
let processor: Processor

beforeAll(async () => {
  service = await startTestService()
  await service.post('/projects', { owner: 'test', name: 'p' })
  processor = createProcessor({ baseUrl: service.url, apiKey: service.administratorKey, project: 'test/p' })
})
afterAll(() => service.stop())

const block = (number: number, handler: (context: Context) => void | Promise<void>) =>
  processor.block({ chain: '1', number, time: new Date(1_700_000_000_000 + number * 1000) }, handler)
const inBlock = async <Result>(number: number, read: (context: Context) => Promise<Result>) => {
  let result: Result | undefined
  await block(number, async (context) => {
    result = await read(context)
  })
  return result
}

describe('context.store', () => {
  const alice = {
    id: 'alice',
    owner: "o'brien",
    balance: 2n ** 255n + 1n,
    rate: 0.25,
    active: true,
    since: new Date('2024-01-01T00:00:00.001Z'),
    tags: ['a', 1],
  } satisfies AccountRow
  const stored = alice

  it('knows nothing of an entity that was never stored', async () => {
    expect(await inBlock(1, (context) => context.store.get(Account, 'alice'))).toBeUndefined()
    expect(await inBlock(1, (context) => context.store.list('Nothing'))).toEqual([])
  })

  it('gives back what a handler set, in the same block, a later one, and from the service, in one form (IN-6)', async () => {
    await block(2, async (context) => {
      context.store.upsert(Account, { ...alice })
      context.store.upsert(Account, { id: 'bob', balance: 5n })
      expect(await context.store.get(Account, 'alice')).toEqual(stored)
    })
    expect(await inBlock(3, (context) => context.store.get(Account, 'alice'))).toEqual(stored)
    await processor.flush()
    expect(await inBlock(4, (context) => context.store.get(Account, 'alice'))).toEqual(stored)
    expect(await inBlock(4, (context) => context.store.get(Account, 'bob'))).toEqual({
      id: 'bob',
      balance: 5n,
    })
  })

  it('gives back what can be set again: a spread state is the same state, and no column changes (IN-6)', async () => {
    const rich = {
      id: 'rich',
      least: -(2n ** 255n),
      most: 2n ** 256n - 1n,
      decimal: new ExactDecimal(`-${'9'.repeat(46)}.${'123456789'.repeat(3)}012`),
      list: ['a', null, 1.5, true, { deep: ['\u0000', '😀'] }],
      empty: [],
      object: { b: 1, a: { nested: [] } },
      at: new Date('2024-01-01T00:00:00.001Z'),
      text: '["no list"]',
      rate: 5e-324,
      no: false,
    }
    const rewrite = async (context: Context) => {
      const state = await context.store.get('Rich', 'rich')
      expect(state).toEqual(rich)
      context.store.upsert('Rich', { ...rich, ...state })
    }
    const columns = async () =>
      (await service.post('/analytics/test/p/sql/execute', { sqlQuery: { sql: 'select * from Rich' } })).body
        .result
    await block(4, (context) => context.store.upsert('Rich', rich))
    await block(4, rewrite)
    await processor.flush()
    const before = await columns()
    for (const number of [5, 6]) {
      await block(number, rewrite)
      await processor.flush()
    }
    const after = await columns()
    expect([after.columnTypes, after.rows]).toEqual([before.columnTypes, before.rows])
    expect(
      (
        await service.post('/analytics/test/p/sql/execute', {
          sqlQuery: { sql: 'select count() as n from Rich_history' },
        })
      ).body.result.rows,
    ).toEqual([{ n: 4 }])
  })

  it('keeps what it cannot show when a spread state is set again: microseconds, and long numbers in lists (IN-6)', async () => {
    const attributes =
      '{"at":{"$time":"2024-01-01T00:00:00.123456Z"},"nested":[9007199254740993,0.1234567890123456789,1.5]}'
    const record = `{"type":"upsert","name":"Foreign","id":"a","attributes":${attributes},"chain":"1","blockNumber":4,"time":"2024-01-01T00:00:00Z"}`
    await service.post('/ingest/test/p/batch', record, { 'content-type': 'application/x-ndjson' })
    await block(5, async (context) => {
      const state = await context.store.get('Foreign', 'a')
      expect(state?.['nested']).toEqual(['9007199254740993', '0.1234567890123456789', 1.5])
      context.store.upsert('Foreign', { ...state, id: 'a' })
    })
    await processor.flush()
    const { body } = await service.post('/analytics/test/p/sql/execute', {
      sqlQuery: { sql: 'select at, nested from Foreign' },
    })
    expect(body.result.rows).toEqual([
      { at: '2024-01-01T00:00:00.123456Z', nested: '["9007199254740993","0.1234567890123456789",1.5]' },
    ])
  })

  it('lists what is stored and what is changed, by filters', async () => {
    await block(5, async (context) => {
      context.store.upsert(Account, { id: 'carol', balance: 7n, owner: 'x' })
      context.store.delete(Account, 'bob')
      const ids = async (...filters: Parameters<Context['store']['list']>[1] & {}) =>
        (await context.store.list(Account, filters)).map(({ id }) => id)
      expect(await ids()).toEqual(['alice', 'carol'])
      expect(await ids({ field: 'balance', op: '>', value: 6n })).toEqual(['alice', 'carol'])
      expect(await ids({ field: 'balance', op: '<=', value: 7n })).toEqual(['carol'])
      expect(await ids({ field: 'owner', op: '=', value: "o'brien" })).toEqual(['alice'])
      expect(await ids({ field: 'owner', op: '!=', value: 'x' })).toEqual(['alice'])
      expect(await ids({ field: 'id', op: 'in', value: ['bob', 'carol'] })).toEqual(['carol'])
      expect(await ids({ field: 'since', op: '>=', value: new Date('2024-01-01T00:00:00Z') })).toEqual([
        'alice',
      ])
    })
    expect(await inBlock(6, (context) => context.store.get(Account, 'bob'))).toBeUndefined()
    await processor.flush()
    const filter = [{ field: 'balance', op: 'in', value: [7n, 8n] }] as const
    expect(
      (await inBlock(6, (context) => context.store.list('Account', filter)))?.map(({ id }) => id),
    ).toEqual(['carol'])
    expect(await inBlock(6, (context) => context.store.get(Account, 'bob'))).toBeUndefined()
  })

  it('filters alike what is stored and what is changed, by every operator', async () => {
    const rows = [
      { id: '%a_1', size: 10n, rate: { toFixed: () => '10.5' }, tags: ['x', '7'], note: 'a\nb', live: true },
      { id: 'b', size: 9n, rate: { toFixed: () => '9' }, tags: ['x', 'é"/\\'], note: 'a.b', live: false },
      { id: '😀', size: -(2n ** 200n), tags: [], at: new Date(5) },
      { id: '\uFFFD' },
    ]
    const cases: readonly (readonly [string, EntityFilter['op'], unknown, readonly number[]])[] = [
      ['size', 'in', [9n, 10], [0, 1]],
      ['size', 'in', [], []],
      ['size', 'not in', [9n], [0, 3, 2]],
      ['size', '<', 9.5, [1, 2]],
      ['size', '=', null, [3]],
      ['size', '!=', null, [0, 1, 2]],
      ['rate', '>', { toFixed: () => '9.5' }, [0]],
      ['rate', '=', 9, [1]],
      ['tags', 'has any', [7n, 'none'], [0]],
      ['tags', 'has any', ['é"/\\'], [1]],
      ['tags', 'has all', ['x', '7'], [0]],
      ['tags', 'has all', ['x'], [0, 1]],
      ['tags', '=', ['x', '7'], [0]],
      ['note', 'like', 'a%b', [0, 1]],
      ['note', 'like', 'a._', [1]],
      ['note', 'not like', 'a.%', [0, 3, 2]],
      ['id', 'like', '\\%a\\_%', [0]],
      ['id', '>', 'b', [3, 2]],
      ['tags', 'like', '["x",%', [0, 1]],
      ['live', '=', true, [0]],
      ['live', '!=', true, [1, 3, 2]],
      ['at', '<=', new Date(5), [2]],
      ['never_seen', '=', null, [0, 1, 3, 2]],
      ['never_seen', '!=', 1, [0, 1, 3, 2]],
      ['never_seen', 'like', '%', []],
    ]
    const Item = Entity.register('Item')
    const found = async (context: Context) => {
      const answers: unknown[] = []
      for (const [field, op, value] of cases) {
        const states = await context.store.list(Item, [{ field, op, value }])
        answers.push([field, op, states.map(({ id }) => rows.findIndex((row) => row.id === id))])
      }
      return answers
    }
    const expected = cases.map(([field, op, , indices]) => [field, op, indices])
    await block(20, async (context) => {
      context.store.upsert(rows.map((row) => new Item(row)))
      expect(await found(context)).toEqual(expected)
    })
    await processor.flush()
    expect(await inBlock(21, found)).toEqual(expected)
    await block(21, (context) => context.store.delete(Item, ['b', '😀']))
    const left: string[] = []
    await block(22, async (context) => {
      for await (const { id } of context.store.listIterator('Item')) left.push(id)
      context.store.delete(new Item({ id: '%a_1' }))
    })
    expect(left).toEqual(['%a_1', '\uFFFD'])
  })

  it('iterates over more than a page of what is stored', async () => {
    await block(30, (context) => {
      for (let i = 0; i < 2500; i++) context.store.upsert('Many', { id: `n${i}` })
    })
    await processor.flush()
    const seen = new Set<string>()
    await block(31, async (context) => {
      context.store.delete('Many', 'n7')
      for await (const { id } of context.store.listIterator('Many')) seen.add(id)
    })
    expect([seen.size, seen.has('n7')]).toEqual([2499, false])
  })

  it('refuses what says no kind or has no id, naming it', async () => {
    const bad = (change: (context: Context) => void) => block(40, change)
    await expect(bad(({ store }) => store.upsert({ id: 'x' }))).rejects.toThrow(/given by its name/)
    await expect(bad(({ store }) => store.upsert('Account', { id: '' }))).rejects.toThrow(
      'id of entity "Account" must be a text',
    )
  })

  it('has the state before again after a rollback (IN-3)', async () => {
    await block(7, (context) => context.store.upsert(Account, { id: 'bob', balance: 100n }))
    await processor.rollback('1', 4)
    expect(await inBlock(5, (context) => context.store.get(Account, 'bob'))).toEqual({
      id: 'bob',
      balance: 5n,
    })
    expect(await inBlock(5, (context) => context.store.get(Account, 'carol'))).toBeUndefined()
  })
})
