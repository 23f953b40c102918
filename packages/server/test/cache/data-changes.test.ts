import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Question } from '../../src/cache/cache-policy.ts'
import { createChangeCollector } from '../../src/cache/data-change.ts'
import { parseCachePolicy } from '../../src/cache/parse-policy.ts'
import { raiseDataVersions, raiseForRollback } from '../../src/database/raise-data-versions.ts'
import { createProjectStore } from '../../src/database/project-store.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { createManualClock, type ManualClock } from '../support/manual-clock.ts'
import { openTestCache, type TestCache } from './test-cache.ts'

const DAY_MS = 86_400_000
const standard = parseCachePolicy({})
const fail = () => Promise.reject(new Error('nothing should be computed'))
const silent = { warn: () => undefined }

describe.each(controlDatabases)('cached answers and changing data on $name', ({ open }) => {
  let database: TestDatabase
  let clock: ManualClock
  let cache: TestCache
  let owner: { projectId: number; version: number }
  let computed: number
  beforeEach(async () => {
    database = await open()
    clock = createManualClock()
    cache = openTestCache({ db: database.db, clock, log: silent })
    computed = 0
    const project = await createProjectStore(database.db).insert(
      { owner: 'o', name: 'p', type: 'processor', isPublic: false },
      0,
    )
    owner = { projectId: project?.id ?? 0, version: 1 }
    await ingest('a', -10 * DAY_MS)
    await ingest('a', -1000)
  })
  afterEach(async () => {
    await cache.settled()
    await database.close()
  })

  /** Data of a time relative to now; the block is its day. */
  async function ingest(name: string, relativeMs: number, chain = '1'): Promise<void> {
    const micros = (clock.now() + relativeMs) * 1000
    const collector = createChangeCollector()
    collector.add(name, chain, micros, Math.floor(micros / 1000 / DAY_MS))
    await database.db.transaction().execute((tx) => raiseDataVersions(tx, owner, collector.changes()))
  }
  function rollBack(relativeMs: number): Promise<void> {
    const order = { chain: '1', aboveBlock: Math.floor((clock.now() + relativeMs) / DAY_MS) }
    return database.db.transaction().execute((tx) => raiseForRollback(tx, owner, order))
  }
  /** A question about the metric `a` over a range relative to now, or fixed now. */
  function question(key: string, range: { from: number; to: number; isFixed?: boolean }): Question<number> {
    const askedAt = clock.now()
    return {
      key,
      owner,
      scope: (nowMs) => {
        const from = (range.isFixed ? askedAt : nowMs) + range.from
        const to = (range.isFixed ? askedAt : nowMs) + range.to
        return {
          coverage: { names: ['a'], fromMicros: from * 1000, toMicros: to * 1000 },
          signature: `${from} ${to}`,
        }
      },
      compute: () => Promise.resolve(++computed),
    }
  }
  const open30Days = () => question('open', { from: -30 * DAY_MS, to: 0 })
  const lastWeek = () => question('closed', { from: -20 * DAY_MS, to: -5 * DAY_MS, isFixed: true })
  const statsOf = async (asked: Question<number>) => (await cache.ask(asked, standard)).stats

  it.each([
    ['late data', () => ingest('a', -3 * DAY_MS)],
    ['late data of a chain that has none yet', () => ingest('a', -3 * DAY_MS, '2')],
    ['a rollback', () => rollBack(-2 * DAY_MS)],
  ])('makes an answer due at once by %s inside what it covers (CA-6)', async (_what, change) => {
    await cache.ask(open30Days(), standard)
    await change()
    clock.advance(1)
    expect(await statsOf(open30Days())).toMatchObject({ isCached: true, isRefreshing: true })
    await cache.settled()
    expect(await statsOf(open30Days())).toMatchObject({ isCached: true, isRefreshing: false })
    expect(computed).toBe(2)
  })

  it('lets new data at the open end wait for the refresh ttl (CA-6)', async () => {
    await cache.ask(open30Days(), standard)
    clock.advance(5000)
    await ingest('a', 0)
    expect(await statsOf(open30Days())).toMatchObject({ isCached: true, isRefreshing: false })
    clock.advance(60_000)
    expect(await statsOf(open30Days())).toMatchObject({ isCached: true, isRefreshing: true })
    await cache.settled()
    expect(computed).toBe(2)
  })

  it.each([
    ['late data of another name', () => ingest('b', -6 * DAY_MS)],
    ['late data behind its end', () => ingest('a', -2 * DAY_MS)],
    ['new data behind its end', () => ingest('a', 0)],
    ['a rollback of later blocks', () => rollBack(-4 * DAY_MS)],
  ])('is not touched by %s, and its refresh computes nothing (CA-6)', async (_what, change) => {
    const asked = lastWeek()
    const first = await cache.ask(asked, standard)
    await change()
    expect(await statsOf(asked)).toMatchObject({ isCached: true, isRefreshing: false })
    clock.advance(60_001)
    expect(await statsOf(asked)).toMatchObject({ isCached: true, isRefreshing: true })
    await cache.settled()
    const renewed = await cache.ask({ ...asked, compute: fail }, standard)
    expect(renewed.value).toBe(first.value)
    expect(renewed.stats).toMatchObject({ computedAt: clock.now(), isCached: true, isRefreshing: false })
    expect(renewed.etag).toBe(first.etag)
    expect(computed).toBe(1)
    const restarted = openTestCache({ db: database.db, clock, log: silent })
    const kept = await restarted.ask({ ...asked, compute: fail }, standard)
    expect(kept.stats).toMatchObject({ computedAt: clock.now(), details: { source: 'store' } })
  })

  it('makes an answer about a range that is over due at once by data that fills it in order (CA-6)', async () => {
    await ingest('a', -8 * DAY_MS, '2')
    const asked = lastWeek()
    await cache.ask(asked, standard)
    await ingest('a', -7 * DAY_MS, '2')
    expect(await statsOf(asked)).toMatchObject({ isRefreshing: true })
  })

  it('about a range that ends later is renewed for nothing until new data has come (CA-6)', async () => {
    const asked = question('ends later', { from: -5 * DAY_MS, to: DAY_MS, isFixed: true })
    await cache.ask(asked, standard)
    clock.advance(60_001)
    expect(await statsOf(asked)).toMatchObject({ isCached: true, isRefreshing: true })
    await cache.settled()
    expect(computed).toBe(1)
    await ingest('a', 0)
    expect(await statsOf(asked)).toMatchObject({ isCached: true, isRefreshing: false })
    clock.advance(60_001)
    expect(await statsOf(asked)).toMatchObject({ isCached: true, isRefreshing: true })
    await cache.settled()
    expect(computed).toBe(2)
  })

  it('computes a range that slid, though its data is unchanged', async () => {
    await cache.ask(open30Days(), standard)
    clock.advance(60_001)
    await cache.ask(open30Days(), standard)
    await cache.settled()
    expect(computed).toBe(2)
  })

  it('takes data for late that came while the answer was computed', async () => {
    const asked = {
      ...open30Days(),
      compute: async () => {
        await ingest('a', -3 * DAY_MS)
        return ++computed
      },
    }
    await cache.ask(asked, standard)
    expect(await statsOf(open30Days())).toMatchObject({ isRefreshing: true })
  })

  it('keeps serving when data versions cannot be asked for', async () => {
    await cache.ask(open30Days(), standard)
    await database.db.schema.alterTable('data_version').renameTo('data_version_away').execute()
    expect(await statsOf(open30Days())).toMatchObject({ isCached: true })
  })

  it('computes once over all instances, and refreshes once (CA-4)', async () => {
    const instances = ['x', 'y', 'z'].map((instance) =>
      openTestCache({ db: database.db, clock, log: silent, instance }),
    )
    let gate = Promise.resolve()
    const asked = { ...open30Days(), compute: () => gate.then(() => ++computed) }
    const askAll = () => Promise.all(instances.flatMap((each) => [1, 2].map(() => each.ask(asked, standard))))
    const first = await askAll()
    expect(first.map(({ value }) => value)).toEqual([1, 1, 1, 1, 1, 1])
    await Promise.all(instances.map((each) => each.settled()))
    clock.advance(60_001)
    const slow = Promise.withResolvers<void>()
    gate = slow.promise
    const stale = await askAll()
    slow.resolve()
    expect(stale.every(({ stats }) => stats.isCached && stats.isRefreshing)).toBe(true)
    await Promise.all(instances.map((each) => each.settled()))
    expect(computed).toBe(2)
    const renewed = await askAll()
    expect(renewed.map(({ value, stats }) => [value, stats.isRefreshing])).toEqual(
      Array.from({ length: 6 }, () => [2, false]),
    )
  })

  it('computes by itself when the instance that has the claim died (CA-4)', async () => {
    const [dead, alive] = ['dead', 'alive'].map((instance) =>
      openTestCache({ db: database.db, clock, log: silent, instance }),
    )
    void dead?.ask({ ...open30Days(), compute: () => new Promise<number>(() => {}) }, standard)
    while ((await database.db.selectFrom('cache_flight').selectAll().execute()).length === 0)
      await setImmediate()
    const answered = new AbortController()
    const waiting = alive?.ask(open30Days(), standard).finally(() => {
      answered.abort()
    })
    while (!answered.signal.aborted) {
      clock.advance(100)
      await setImmediate()
    }
    expect((await waiting)?.value).toBe(1)
  })

  it('leaves a long computation to the instance that is at it, which renews its claim (CA-4)', async () => {
    const renewals = new Set<() => void>()
    const busy = openTestCache({
      db: database.db,
      clock,
      log: silent,
      instance: 'busy',
      repeat: (work) => {
        renewals.add(work)
        return () => void renewals.delete(work)
      },
    })
    const slow = Promise.withResolvers<number>()
    const computing = busy.ask({ ...open30Days(), compute: () => slow.promise }, standard)
    const readClaim = () => database.db.selectFrom('cache_flight').select('until').executeTakeFirst()
    // It is there before the instance knows that it has it.
    while (!(await readClaim()) || renewals.size === 0) await setImmediate()
    for (let minute = 0; minute < 5; minute++) {
      clock.advance(50_000)
      for (const renew of renewals) renew()
      while (((await readClaim())?.until ?? 0) < clock.now() + 60_000) await setImmediate()
    }
    slow.resolve(7)
    expect((await computing).value).toBe(7)
    await busy.settled()
    expect([renewals.size, await readClaim()]).toEqual([0, undefined])
  })

  it('tells the highest block of each chain that an answer includes', async () => {
    const heightsOf = async (key: string) =>
      (await cache.ask(question(key, { from: -DAY_MS, to: 0 }), standard)).stats.details?.heights
    const today = Math.floor(clock.now() / DAY_MS)
    await ingest('b', -2 * DAY_MS, '2')
    expect(await heightsOf('one')).toEqual({ '1': today - 1, '2': today - 2 })
    await rollBack(-5 * DAY_MS)
    expect(await heightsOf('one')).toEqual({ '1': today - 1, '2': today - 2 })
    expect(await heightsOf('two')).toEqual({ '1': today - 5, '2': today - 2 })
  })

  it('lets no other instance try at once what has failed on one (CA-4)', async () => {
    const [one, other] = ['one', 'other'].map((instance) =>
      openTestCache({ db: database.db, clock, log: silent, instance }),
    )
    await one?.ask(open30Days(), standard)
    await one?.settled()
    await other?.ask(open30Days(), standard)
    clock.advance(60_001)
    await one?.ask({ ...open30Days(), compute: fail }, standard)
    await one?.settled()
    await other?.ask(open30Days(), standard)
    await other?.settled()
    expect(computed).toBe(1)
    clock.advance(1001)
    await other?.ask(open30Days(), standard)
    await other?.settled()
    expect(computed).toBe(2)
  })
})
