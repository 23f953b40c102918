import { createProcessor, Entity, type Context, type Processor } from '@millrace/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

interface Account {
  readonly id: string
  readonly owner?: string
  readonly balance?: bigint
  readonly rate?: number
  readonly active?: boolean
  readonly since?: Date
  readonly tags?: unknown
}
const Account = Entity.register<Account & Record<string, unknown>>('Account')

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
  const alice: Account = {
    id: 'alice',
    owner: "o'brien",
    balance: 2n ** 255n + 1n,
    rate: 0.25,
    active: true,
    since: new Date('2024-01-01T00:00:00.001Z'),
    tags: ['a', 1],
  }
  const stored = { ...alice, tags: '["a",1]' }

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
    await processor.flush()
    const filter = [{ field: 'balance', op: 'in', value: [7n, 8n] }] as const
    expect(
      (await inBlock(6, (context) => context.store.list('Account', filter)))?.map(({ id }) => id),
    ).toEqual(['carol'])
    expect(await inBlock(6, (context) => context.store.get(Account, 'bob'))).toBeUndefined()
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
