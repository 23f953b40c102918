import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ResultStore } from '../../src/cache/result-store.ts'
import { createResultStore } from '../../src/database/result-store.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'

const key = (n: number) => new Uint8Array(32).fill(n)
const result = (bytes: number, usedAt: number, computedAt = usedAt, projectId = 1) => ({
  projectId,
  basis: '{}',
  body: new Uint8Array(bytes).fill(200),
  computedAt,
  computeCostMs: 7,
  usedAt,
})

describe.each(controlDatabases)('result store on $name', ({ open }) => {
  let database: TestDatabase
  let store: ResultStore
  beforeEach(async () => {
    database = await open()
    store = createResultStore(database.db)
  })
  afterEach(() => database.close())

  const write = (keyHash: Uint8Array, stored: ReturnType<typeof result>) =>
    store.write([{ keyHash, ...stored }])
  async function held(keys: readonly number[]): Promise<readonly number[]> {
    const found = await Promise.all(keys.map((n) => store.read(key(n), -1)))
    return keys.filter((_, index) => found[index] !== null)
  }

  it('returns what was written', async () => {
    await write(key(1), result(100, 5))
    const stored = await store.read(key(1), -1)
    expect(stored).toMatchObject({ computedAt: 5, computeCostMs: 7, usedAt: 5 })
    expect([...(stored?.body ?? [])]).toEqual([...new Uint8Array(100).fill(200)])
    expect(await store.read(key(2), -1)).toBeNull()
  })

  it('replaces an older answer and keeps a newer one, so that a slow instance undoes nothing', async () => {
    await write(key(1), result(1, 10))
    await write(key(1), result(2, 20))
    await write(key(1), result(3, 15))
    expect(await store.read(key(1), 19)).toMatchObject({ computedAt: 20 })
    expect(await store.read(key(1), 20)).toBeNull()
  })

  it('takes several answers at once, each by its own age', async () => {
    await write(key(2), result(1, 20))
    await store.write([1, 2, 3].map((n) => ({ keyHash: key(n), ...result(2, 15) })))
    expect(await store.read(key(1), -1)).toMatchObject({ computedAt: 15 })
    expect(await store.read(key(2), -1)).toMatchObject({ computedAt: 20 })
    expect(await store.read(key(3), -1)).toMatchObject({ computedAt: 15 })
  })

  it('drops by age, then the least recently used until the rest fit', async () => {
    for (const n of [1, 2, 3, 4]) await write(key(n), result(100, n * 10))
    await store.touch(key(2), 100)
    await store.touch(key(2), 1)
    await store.evict({ computedBefore: 15, bytesMax: 1000 })
    expect(await held([1, 2, 3, 4])).toEqual([2, 3, 4])
    await store.evict({ computedBefore: 0, bytesMax: 250 })
    expect(await held([2, 3, 4])).toEqual([2, 4])
    await store.evict({ computedBefore: 0, bytesMax: 99 })
    expect(await held([2, 3, 4])).toEqual([])
  })
  it('gives an answer a new age, unless it was replaced meanwhile', async () => {
    await write(key(1), result(1, 10))
    await store.renew(key(1), { from: 9, to: 50 })
    expect(await store.read(key(1), -1)).toMatchObject({ computedAt: 10 })
    await store.renew(key(1), { from: 10, to: 50 })
    expect(await store.read(key(1), -1)).toMatchObject({ computedAt: 50 })
  })

  it('takes room from the project that holds most, and nothing from one that holds little', async () => {
    await write(key(1), result(100, 1, 1, 7))
    for (const n of [2, 3, 4, 5, 6]) await write(key(n), result(100, n * 10, n, 8))
    await store.evict({ computedBefore: 0, bytesMax: 350 })
    expect(await held([1, 2, 3, 4, 5, 6])).toEqual([1, 5, 6])
  })
})
