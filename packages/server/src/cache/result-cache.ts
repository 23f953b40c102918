import { createHash } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import type { Cached, CachePolicy, ResultCache } from './cache-policy.ts'
import { decideCache } from './decide.ts'
import { createMemoryLevel, type CacheEntry } from './memory-level.ts'
import { decodeResult, encodeResult } from './result-codec.ts'
import type { ResultStore } from './result-store.ts'

export interface ResultCacheOptions {
  readonly store: ResultStore
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
  readonly limits?: Partial<CacheLimits>
}

/** Bounds of the cache. */
export interface CacheLimits {
  /** JSON of the answers held in memory. */
  readonly memoryBytesMax: number
  /** Compressed answers in the control database. */
  readonly storeBytesMax: number
  /** JSON of one answer; a longer one is not cached. */
  readonly entryBytesMax: number
  /** Older answers are dropped from the control database, whatever ttl a caller would accept. */
  readonly ageMaxMs: number
}

const DEFAULT_LIMITS: CacheLimits = {
  memoryBytesMax: 64 * 2 ** 20,
  storeBytesMax: 2 ** 30,
  entryBytesMax: 32 * 2 ** 20,
  ageMaxMs: 30 * 86_400_000,
}

const EVICT_EVERY_MS = 60_000
const TOUCH_EVERY_MS = 3_600_000

/** A cache with work that goes on after the answer. */
export interface RunningResultCache extends ResultCache {
  /** Resolves when no refresh and no write is under way; for an orderly stop. */
  settled(): Promise<void>
}

/**
 * Answers from memory, then from the store, then by computing (CA-2…CA-5). Answers are JSON values, shared between
 * callers, and must not be changed. A computation is shared by all who miss while it runs; a forced one is always its
 * own, because one that began before the request may not see what the caller wants to see. The store is an aid: when
 * it fails, answers are computed.
 */
export function createResultCache(options: ResultCacheOptions): RunningResultCache {
  const { store, clock, log } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const memory = createMemoryLevel(limits.memoryBytesMax)
  /** The newest computation of each key. */
  const flights = new Map<string, Promise<CacheEntry>>()
  const background = new Set<Promise<unknown>>()
  let evictedAt = Number.NEGATIVE_INFINITY

  async function through<Value>(
    key: string,
    policy: CachePolicy,
    compute: () => Promise<Value>,
  ): Promise<Cached<Value>> {
    const entry = policy.isBypassed || policy.isRefreshForced ? null : await find(key, policy)
    const decision = decideCache(policy, entry && clock.now() - entry.computedAt)
    if (decision === 'bypass') return answer(await measure(compute), false, false)
    if (decision === 'compute' || entry === null) {
      const computed = await (policy.isRefreshForced ? launch(key, compute) : join(key, compute))
      return answer(computed, false, false)
    }
    noteUse(key, entry)
    const isRefreshing = decision === 'serve_and_refresh'
    if (isRefreshing && !flights.has(key)) inBackground('cache.refresh_failed', launch(key, compute))
    return answer(entry, true, isRefreshing)
  }

  /** What is kept under a key. The store is asked only when memory alone would not do: another instance may have renewed it. */
  async function find(key: string, policy: CachePolicy): Promise<CacheEntry | null> {
    const held = memory.get(key)
    if (held && decideCache(policy, clock.now() - held.computedAt) === 'serve') return held
    try {
      const stored = await store.read(hashKey(key))
      if (stored && stored.computedAt > (memory.get(key)?.computedAt ?? -1)) {
        const json = await decodeResult(stored.body, limits.entryBytesMax)
        const { body: _, ...rest } = stored
        const entry = { ...rest, value: JSON.parse(json), bytes: Buffer.byteLength(json) }
        memory.put(key, entry)
        return memory.get(key) ?? entry
      }
    } catch (error) {
      log.warn({ err: error }, 'cache.read_failed')
    }
    return memory.get(key) ?? null
  }

  /** Shares the computation under way, or begins one. */
  async function join<Value>(key: string, compute: () => Promise<Value>): Promise<CacheEntry> {
    for (let flight = flights.get(key); flight; flight = flights.get(key)) {
      try {
        return await flight
      } catch (error) {
        // Whoever began it went away; those who wait for it did not.
        if (!(error instanceof ServiceError && error.code === 'cancelled')) throw error
      }
    }
    return launch(key, compute)
  }

  function launch<Value>(key: string, compute: () => Promise<Value>): Promise<CacheEntry> {
    const flight = measure(compute).then(
      (entry) => {
        land()
        return keep(key, entry)
      },
      (error: unknown) => {
        land()
        throw error
      },
    )
    flights.set(key, flight)
    return flight

    function land(): void {
      if (flights.get(key) === flight) flights.delete(key)
    }
  }

  async function measure<Value>(compute: () => Promise<Value>): Promise<CacheEntry> {
    const computedAt = clock.now()
    const startedAt = clock.monotonic()
    const value = await compute()
    const computeCostMs = Math.round(clock.monotonic() - startedAt)
    return { value, bytes: 0, computedAt, computeCostMs, usedAt: computedAt }
  }

  /** Puts an answer into memory now and into the store soon. */
  function keep(key: string, computed: CacheEntry): CacheEntry {
    const json = toJson(computed.value)
    const bytes = Buffer.byteLength(json)
    if (bytes === 0 || bytes > limits.entryBytesMax) return computed
    const entry = { ...computed, bytes }
    memory.put(key, entry)
    inBackground('cache.write_failed', write(key, json, entry))
    return entry
  }

  /** Empty for a value that JSON cannot hold: a defect of the caller, which need not fail the request. */
  function toJson(value: unknown): string {
    try {
      return JSON.stringify(value) ?? ''
    } catch (error) {
      log.warn({ err: error }, 'cache.value_is_not_json')
      return ''
    }
  }

  async function write(key: string, json: string, entry: CacheEntry): Promise<void> {
    const { computedAt, computeCostMs, usedAt } = entry
    await store.write(hashKey(key), { body: await encodeResult(json), computedAt, computeCostMs, usedAt })
    if (clock.monotonic() - evictedAt < EVICT_EVERY_MS) return
    evictedAt = clock.monotonic()
    await store.evict({ computedBefore: clock.now() - limits.ageMaxMs, bytesMax: limits.storeBytesMax })
  }

  function noteUse(key: string, entry: CacheEntry): void {
    const usedAt = clock.now()
    if (usedAt - entry.usedAt < TOUCH_EVERY_MS) return
    memory.put(key, { ...entry, usedAt })
    inBackground('cache.touch_failed', store.touch(hashKey(key), usedAt))
  }

  function inBackground(failure: string, work: Promise<unknown>): void {
    const watched = work
      .catch((error: unknown) => {
        log.warn({ err: error }, failure)
      })
      .finally(() => background.delete(watched))
    background.add(watched)
  }

  return {
    through,
    settled: async () => {
      while (background.size > 0) await Promise.all(background)
    },
  }
}

function answer<Value>(entry: CacheEntry, isCached: boolean, isRefreshing: boolean): Cached<Value> {
  const { value, computedAt, computeCostMs } = entry
  return { value: value as Value, stats: { computedAt, isCached, isRefreshing, computeCostMs } }
}

function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
