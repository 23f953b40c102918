import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseCachePolicy } from '../../src/cache/parse-policy.ts'
import { ServiceError } from '../../src/platform/errors.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { createManualClock, type ManualClock } from '../support/manual-clock.ts'
import { openTestCache, type TestCache, type TestCacheOptions } from './test-cache.ts'

const standard = parseCachePolicy({})
const MINUTE = 60_000
const DAY = 86_400_000
const done = () => Promise.resolve()
/** Stores that answer at once, so that one turn of the event loop sees everybody waiting. */
const AT_ONCE = {
  store: { read: () => Promise.resolve(null), write: done, renew: done, touch: done, evict: done },
  dataVersions: {
    current: () => Promise.resolve({ latest: 0, late: 0, isDeleted: false }),
    covered: () => Promise.resolve({ latest: 0, late: 0 }),
    frontierMicros: () => Promise.resolve(null),
    changedDays: () => Promise.resolve([]),
    view: () => Promise.resolve({ latest: 0, late: 0, lastRollback: 0, upTo: 0, open: [], heights: {} }),
  },
}

describe.each(controlDatabases)('result cache on $name', ({ open }) => {
  let database: TestDatabase
  let clock: ManualClock
  let cache: TestCache
  let warnings: string[]
  let computed: number
  beforeEach(async () => {
    database = await open()
    clock = createManualClock()
    warnings = []
    computed = 0
    cache = newCache()
  })
  afterEach(async () => {
    await cache.settled()
    await database.close()
  })

  const log = { warn: (_fields: unknown, message?: string) => void warnings.push(message ?? '') }
  const newCache = (options: Partial<TestCacheOptions> = {}) =>
    openTestCache({ db: database.db, clock, log, ...options })
  const count = () => Promise.resolve({ n: ++computed })
  const fail = () => Promise.reject(new ServiceError('unavailable', 'the engine is restarting'))

  it('computes once, then serves with the instant and cost of the computation (CA-2, CA-5)', async () => {
    const start = clock.now()
    const first = await cache.through('key', standard, async () => {
      clock.advance(250)
      return count()
    })
    const details = { ageMs: 250, dataVersion: 0, expiresAt: start + 15 * DAY, failure: null, heights: {} }
    expect(first).toMatchObject({
      value: { n: 1 },
      stats: {
        computedAt: start,
        isCached: false,
        isRefreshing: false,
        computeCostMs: 250,
        details: { ...details, source: 'computed' },
      },
    })
    const second = await cache.through('key', standard, count)
    expect(second.value).toEqual({ n: 1 })
    expect(second.stats).toEqual({
      ...first.stats,
      isCached: true,
      details: { ...details, source: 'memory' },
    })
    expect(second.etag).toBe(first.etag)
    expect((await cache.through('other', standard, count)).value).toEqual({ n: 2 })
  })

  it('survives a restart and is shared by instances', async () => {
    cache = newCache({ instance: 'a' })
    await cache.through('key', standard, count)
    await cache.settled()
    const restarted = newCache({ instance: 'b' })
    const answer = await restarted.through('key', standard, fail)
    expect(answer).toMatchObject({ value: { n: 1 }, stats: { isCached: true } })
    clock.advance(MINUTE + 1)
    await restarted.through('key', standard, count)
    await restarted.settled()
    expect((await cache.through('key', standard, fail)).value).toEqual({ n: 2 })
  })

  it('serves a stale answer and renews it once in the background (CA-2, CA-4)', async () => {
    await cache.through('key', standard, count)
    clock.advance(MINUTE + 1)
    const gate = Promise.withResolvers<void>()
    const slow = () => gate.promise.then(count)
    for (let i = 0; i < 3; i++) {
      const stale = await cache.through('key', standard, slow)
      expect(stale).toMatchObject({ value: { n: 1 }, stats: { isCached: true, isRefreshing: true } })
    }
    gate.resolve()
    await cache.settled()
    expect(computed).toBe(2)
    const fresh = await cache.through('key', standard, fail)
    expect(fresh).toMatchObject({ value: { n: 2 }, stats: { isCached: true, isRefreshing: false } })
  })

  it('judges age with the policy of the caller who reads (CA-2)', async () => {
    await cache.through('key', standard, count)
    clock.advance(5000)
    expect((await cache.through('key', parseCachePolicy({ cacheTtlSecs: 10 }), count)).value).toEqual({
      n: 1,
    })
    expect((await cache.through('key', parseCachePolicy({ cacheTtlSecs: 4 }), count)).value).toEqual({ n: 2 })
    expect((await cache.through('key', standard, count)).value).toEqual({ n: 2 })
    clock.advance(15 * DAY + 1)
    expect((await cache.through('key', standard, count)).value).toEqual({ n: 3 })
  })

  it('neither reads nor writes nor renews with noCache (CA-3)', async () => {
    const bypass = parseCachePolicy({ noCache: true })
    expect(await cache.through('key', bypass, count)).toMatchObject({
      value: { n: 1 },
      stats: { isCached: false },
    })
    expect((await cache.through('key', standard, count)).value).toEqual({ n: 2 })
    expect((await cache.through('key', bypass, count)).value).toEqual({ n: 3 })
    expect((await cache.through('key', standard, count)).value).toEqual({ n: 2 })
  })

  it('computes now and stores with forceRefresh, beside a computation that began earlier (CA-3)', async () => {
    const forced = parseCachePolicy({ forceRefresh: true })
    await cache.through('key', standard, count)
    const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    clock.advance(MINUTE + 1)
    await cache.through('key', standard, () => {
      begun.resolve()
      return gate.promise.then(() => ({ n: -1 }))
    })
    await begun.promise
    clock.advance(1)
    const answer = await cache.through('key', forced, count)
    expect(answer).toMatchObject({ value: { n: 2 }, stats: { isCached: false, isRefreshing: false } })
    gate.resolve()
    await cache.settled()
    expect((await cache.through('key', standard, fail)).value).toEqual({ n: 2 })
    expect((await newCache().through('key', standard, fail)).value).toEqual({ n: 2 })
  })

  it('lets all who miss while it runs share one computation (CA-4)', async () => {
    const gate = Promise.withResolvers<void>()
    const slow = () => gate.promise.then(count)
    const answers = [1, 2, 3, 4].map(() => cache.through('key', standard, slow))
    const other = cache.through('other', standard, count)
    expect((await other).value).toEqual({ n: 1 })
    gate.resolve()
    expect((await Promise.all(answers)).map((answer) => answer.value)).toEqual(answers.map(() => ({ n: 2 })))
  })

  it('goes on for those who wait when the caller who began it goes away', async () => {
    const patient = newCache(AT_ONCE)
    const gate = Promise.withResolvers<never>()
    const first = patient.through('key', standard, () => gate.promise)
    const others = [1, 2].map(() => patient.through('key', standard, count))
    await setImmediate()
    expect(computed).toBe(0)
    gate.reject(new ServiceError('cancelled', 'the caller went away'))
    await expect(first).rejects.toMatchObject({ code: 'cancelled' })
    expect((await Promise.all(others)).map((answer) => answer.value)).toEqual([{ n: 1 }, { n: 1 }])
  })

  it('begins no refresh while a forced computation runs, though an earlier one has ended (CA-4)', async () => {
    const patient = newCache(AT_ONCE)
    const eager = parseCachePolicy({ cacheRefreshTtlSecs: 0 })
    const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const
    await patient.through('key', standard, count)
    clock.advance(1)
    await patient.through('key', eager, () => gates[0].promise)
    const forced = patient.through('key', parseCachePolicy({ forceRefresh: true }), () => gates[1].promise)
    gates[0].resolve('renewed')
    await setImmediate()
    clock.advance(1)
    const stale = await patient.through('key', eager, count)
    expect(stale).toMatchObject({ value: 'renewed', stats: { isCached: true, isRefreshing: true } })
    expect(computed).toBe(1)
    gates[1].resolve('forced')
    expect((await forced).value).toBe('forced')
  })

  it('notes the use of an answer, by the hour, for the choice of what to drop', async () => {
    const lasting = parseCachePolicy({ cacheRefreshTtlSecs: 86_400 })
    const usedAt = async () => {
      await cache.settled()
      return (await database.db.selectFrom('cached_result').select('used_at').executeTakeFirstOrThrow())
        .used_at
    }
    const start = clock.now()
    await cache.through('key', lasting, count)
    clock.advance(3_599_999)
    await cache.through('key', lasting, fail)
    expect(await usedAt()).toBe(start)
    clock.advance(1)
    await cache.through('key', lasting, fail)
    expect(await usedAt()).toBe(start + 3_600_000)
  })

  it('caches no error (CA-4)', async () => {
    await expect(cache.through('key', standard, fail)).rejects.toMatchObject({ code: 'unavailable' })
    expect((await cache.through('key', standard, count)).value).toEqual({ n: 1 })
  })

  it('keeps the old answer when a refresh fails, and says so in the log (CA-4)', async () => {
    await cache.through('key', standard, count)
    clock.advance(MINUTE + 1)
    await cache.through('key', standard, fail)
    await cache.settled()
    expect(warnings).toEqual(['cache.refresh_failed'])
    const paused = await cache.through('key', standard, count)
    expect(paused).toMatchObject({ value: { n: 1 }, stats: { isCached: true, isRefreshing: false } })
    const failure = { message: 'the engine is restarting', attempts: 1, retryAt: clock.now() + 1000 }
    expect(paused.stats.details?.failure).toEqual(failure)
    clock.advance(1000)
    expect(await cache.through('key', standard, count)).toMatchObject({
      value: { n: 1 },
      stats: { isCached: true, isRefreshing: true },
    })
    await cache.settled()
    const renewed = await cache.through('key', standard, fail)
    expect(renewed).toMatchObject({ value: { n: 2 }, stats: { details: { failure: null } } })
  })

  it('waits longer with every failed refresh, up to a minute, and computes at once what is older than the ttl', async () => {
    await cache.through('key', standard, count)
    clock.advance(MINUTE + 1)
    const pauses: number[] = []
    for (let i = 0; i < 8; i++) {
      await cache.through('key', standard, fail)
      await cache.settled()
      const { stats } = await cache.through('key', standard, fail)
      pauses.push((stats.details?.failure?.retryAt ?? 0) - clock.now())
      clock.advance(pauses.at(-1) ?? 0)
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
    await cache.through('key', standard, fail)
    await cache.settled()
    const impatient = parseCachePolicy({ cacheTtlSecs: 1 })
    expect((await cache.through('key', impatient, count)).value).toEqual({ n: 2 })
  })

  it('shares one forced computation among those who come while another one runs (CA-4)', async () => {
    const forced = parseCachePolicy({ forceRefresh: true })
    const patient = newCache(AT_ONCE)
    const gate = Promise.withResolvers<void>()
    const first = patient.through('key', forced, () => gate.promise.then(count))
    await setImmediate()
    const later = [1, 2, 3].map(() => patient.through('key', forced, count))
    gate.resolve()
    expect((await first).value).toEqual({ n: 1 })
    expect((await Promise.all(later)).map(({ value }) => value)).toEqual([{ n: 2 }, { n: 2 }, { n: 2 }])
  })

  it('gives an answer again only as long as nothing but giving it is decided (CA-2)', async () => {
    const policy = parseCachePolicy({ cacheTtlSecs: 120, cacheRefreshTtlSecs: 60 })
    const looking = newCache({ lookMaxAgeMs: 10 * MINUTE })
    const { again } = await looking.through('key', policy, count)
    expect(again()).toBeNull()
    await looking.through('key', policy, count)
    expect(again()).toMatchObject({ value: { n: 1 }, stats: { isCached: true, isRefreshing: false } })
    clock.advance(MINUTE + 1)
    expect(again()).toBeNull()
    expect(computed).toBe(1)
    await looking.through('key', policy, count)
    await looking.settled()
    expect(again()).toMatchObject({ value: { n: 2 } })
    for (const wire of [{ noCache: true }, { forceRefresh: true }]) {
      const other = await looking.through('key', parseCachePolicy(wire), count)
      expect(other.again()).toBeNull()
    }
  })

  it('stores answers that come together with one write, unless another instance waits for them', async () => {
    const written: number[] = []
    const write = (results: readonly unknown[]) => {
      written.push(results.length)
      return Promise.resolve()
    }
    const ask = async (instance: TestCache) => {
      const dear = () => {
        clock.advance(20)
        return count()
      }
      await Promise.all(Array.from({ length: 40 }, (_, i) => instance.through(`key ${i}`, standard, dear)))
      await instance.settled()
    }
    await ask(newCache({ ...AT_ONCE, store: { ...AT_ONCE.store, write } }))
    expect(written.reduce((sum, each) => sum + each, 0)).toBe(40)
    expect(written.length).toBeLessThan(40)
    written.length = 0
    await ask(newCache({ ...AT_ONCE, store: { ...AT_ONCE.store, write }, instance: 'one' }))
    expect(written).toEqual(Array.from({ length: 40 }, () => 1))
  })

  it('stores what was quick to compute when it is asked for again, and every five minutes, unless another instance waits for it', async () => {
    const stored = async () =>
      (await database.db.selectFrom('cached_result').select('computed_at').execute()).map(
        (row) => row.computed_at,
      )
    const start = clock.now()
    await cache.through('key', standard, count)
    await cache.settled()
    expect(await stored()).toEqual([])
    clock.advance(1)
    await cache.through('key', standard, fail)
    await cache.settled()
    expect(await stored()).toEqual([start])
    expect(await newCache().through('key', standard, fail)).toMatchObject({ value: { n: 1 } })
    for (const minutes of [1, 2, 3, 4]) {
      clock.advance(MINUTE + 1)
      await cache.through('key', standard, count)
      await cache.settled()
      expect(await cache.through('key', standard, fail)).toMatchObject({ value: { n: 1 + minutes } })
      await cache.settled()
      expect(await stored()).toEqual([start])
    }
    clock.advance(MINUTE + 1)
    await cache.through('key', standard, count)
    await cache.settled()
    // That which was given, and then renewed.
    expect(await stored()).toEqual([clock.now() - MINUTE - 1])
    const shared = newCache({ instance: 'a' })
    await shared.through('other', standard, count)
    await shared.settled()
    expect(await stored()).toHaveLength(2)
  })

  it('stores a quick answer once, however many ask for it again at a time', async () => {
    const written: number[] = []
    const write = (results: readonly unknown[]) => Promise.resolve(void written.push(results.length))
    const busy = newCache({ ...AT_ONCE, store: { ...AT_ONCE.store, write } })
    await busy.through('key', standard, count)
    await Promise.all(Array.from({ length: 10 }, () => busy.through('key', standard, fail)))
    await busy.settled()
    expect(written).toEqual([1])
  })

  it('stores a quick answer that was found unchanged with its new age', async () => {
    const question = {
      key: 'key',
      owner: { projectId: 1, version: 1 },
      scope: () => ({ coverage: { names: [], fromMicros: null, toMicros: 0 }, signature: '' }),
      compute: count,
    }
    await cache.ask(question, standard)
    clock.advance(MINUTE + 1)
    await cache.ask(question, parseCachePolicy({ cacheRefreshTtlSecs: 60 }))
    await cache.settled()
    const restarted = await newCache().ask({ ...question, compute: fail }, standard)
    expect(restarted).toMatchObject({ value: { n: 1 }, stats: { computedAt: clock.now() } })
    expect(computed).toBe(1)
  })

  it('answers without its store, and from a store with a damaged answer', async () => {
    const broken = newCache({
      store: { read: fail, write: fail, renew: fail, touch: fail, evict: fail },
    })
    expect((await broken.through('key', standard, count)).value).toEqual({ n: 1 })
    expect((await broken.through('key', standard, fail)).value).toEqual({ n: 1 })
    await broken.settled()
    expect(warnings).toEqual(['cache.read_failed', 'cache.write_failed'])
    await cache.through('key', standard, count)
    await cache.through('key', standard, fail)
    await cache.settled()
    await database.db
      .updateTable('cached_result')
      .set({ body: new Uint8Array([1, 2, 3]) })
      .execute()
    expect((await newCache().through('key', standard, count)).value).toEqual({ n: 3 })
  })

  it('keeps no answer that is too long or no JSON, and gives it all the same', async () => {
    const small = newCache({ limits: { entryBytesMax: 20 } })
    const long = () => Promise.resolve({ text: 'x'.repeat(50), n: ++computed })
    expect((await small.through('key', standard, long)).value.n).toBe(1)
    expect((await small.through('key', standard, long)).value.n).toBe(2)
    const exact = () => Promise.resolve({ n: BigInt(++computed) })
    expect((await cache.through('key', standard, exact)).value.n).toBe(3n)
    expect((await cache.through('key', standard, exact)).value.n).toBe(4n)
    expect(warnings).toContain('cache.value_is_not_json')
  })

  it('stays within its bytes in the control database', async () => {
    const small = newCache({ limits: { storeBytesMax: 2000, memoryBytesMax: 0 } })
    for (let i = 0; i < 20; i++) {
      await small.through(`key ${i}`, standard, () => Promise.resolve(noise(i)))
      await small.settled()
      clock.advance(MINUTE)
    }
    const rows = await database.db.selectFrom('cached_result').select(['body_bytes', 'used_at']).execute()
    const bytes = rows.reduce((sum, row) => sum + row.body_bytes, 0)
    expect(bytes).toBeGreaterThan(500)
    expect(bytes).toBeLessThanOrEqual(2000)
    expect(Math.max(...rows.map((row) => row.used_at))).toBe(clock.now() - MINUTE)
  })
})

/** Text that hardly compresses, the same for the same seed. */
function noise(seed: number): string {
  let state = seed + 1
  return Array.from({ length: 500 }, () => {
    state = (state * 48_271) % 2_147_483_647
    return String.fromCharCode(33 + (state % 90))
  }).join('')
}
