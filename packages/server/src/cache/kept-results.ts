import { hash } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import { contentOf, type Content } from './content-of.ts'
import type { Basis } from './data-versions.ts'
import { createGatheredWrites } from './gathered-writes.ts'
import { createMemoryLevel, type CacheEntry } from './memory-level.ts'
import { decodeResult, encodeResult } from './result-codec.ts'
import type { ResultStore } from './result-store.ts'

/** Bounds of the cache. */
export interface CacheLimits {
  /** Answers held in memory, with their renderings. */
  readonly memoryBytesMax: number
  /** Compressed answers in the control database. */
  readonly storeBytesMax: number
  /** One answer before it is compressed; a longer one is not cached. */
  readonly entryBytesMax: number
  /** Older answers are dropped from the control database, whatever ttl a caller would accept. */
  readonly ageMaxMs: number
}

/** Answers on two levels: memory over the control database. The store is an aid: its failures are logged. */
export interface KeptResults {
  /** From memory alone. */
  held(key: string): CacheEntry | undefined
  /** From the store if it has a newer one than memory, else from memory. */
  find(key: string): Promise<CacheEntry | undefined>
  /**
   * Puts an answer into memory now. `written` resolves when it is in the store, or failed to get there; null when it is not put there, for now or
   * because it cannot be kept.
   */
  keep(
    key: string,
    computed: CacheEntry,
    isStoredAtOnce: boolean,
  ): { readonly entry: CacheEntry; readonly written: Promise<void> | null }
  /** Gives an answer a new age; what holds still holds. */
  renew(key: string, entry: CacheEntry, computedAt: number): Promise<void>
  /** Notes that an answer was used, by the hour, for the choice of what to drop. Stores one that was not worth it before. */
  noteUse(key: string, entry: CacheEntry): Promise<void> | null
  keepRendering(key: string, entry: CacheEntry, variant: string, rendering: Uint8Array): void
}

interface KeptResultsOptions {
  readonly store: ResultStore
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
  readonly limits: CacheLimits
  readonly sleep: (ms: number) => Promise<unknown>
  /** How long answers wait for others to be written with; 0 where another instance waits for them, and for each of them. */
  readonly gatherMs: number
}

const EVICT_EVERY_MS = 60_000
const TOUCH_EVERY_MS = 3_600_000
/**
 * To store an answer takes a few milliseconds. One that took fewer than these to compute is stored when it is asked for again, and those that
 * follow it now and then: after a restart an older one is given and renewed.
 */
const DEAR_FROM_MS = 20
const STORE_EVERY_MS = 300_000

export function createKeptResults({
  store,
  clock,
  log,
  limits,
  sleep,
  gatherMs,
}: KeptResultsOptions): KeptResults {
  const writeGathered = createGatheredWrites(store, sleep, gatherMs)
  const memory = createMemoryLevel(limits.memoryBytesMax)
  const reads = new Map<string, Promise<CacheEntry | undefined>>()
  const writes = new Map<string, Promise<void>>()
  /** Of answers that are in memory alone: most questions about fixed times are asked once. */
  const unstored = new WeakSet<Basis>()
  /** When an answer to the same question was last stored; monotonic. */
  const storedAt = new WeakMap<Basis, number>()
  let evictedAt = Number.NEGATIVE_INFINITY

  /** Those who miss at once read the store once. */
  function find(key: string): Promise<CacheEntry | undefined> {
    const running = reads.get(key)
    if (running) return running
    const read = readStore(key).finally(() => reads.delete(key))
    reads.set(key, read)
    return read
  }

  async function readStore(key: string): Promise<CacheEntry | undefined> {
    try {
      const stored = await store.read(hashKey(key), memory.get(key)?.computedAt ?? -1)
      if (stored) {
        const decoded = await decodeResult(stored.body, limits.entryBytesMax)
        const { body: _, basis, ...rest } = stored
        const content = decoded && contentOf(decoded.value)
        if (content) {
          const entry = {
            ...rest,
            ...content,
            value: decoded.value,
            basis: JSON.parse(basis) as Basis,
            renderings: new Map(),
          }
          memory.put(key, entry)
          return memory.get(key) ?? entry
        }
      }
    } catch (error) {
      log.warn({ err: error }, 'cache.read_failed')
    }
    return memory.get(key)
  }

  /** Null for a value that JSON cannot hold: a defect of the caller, which need not fail the request. */
  function describe(value: unknown): Content | null {
    try {
      return contentOf(value)
    } catch (error) {
      log.warn({ err: error }, 'cache.value_is_not_json')
      return null
    }
  }

  function isStoreDue(basis: Basis): boolean {
    return clock.monotonic() - (storedAt.get(basis) ?? Number.NEGATIVE_INFINITY) >= STORE_EVERY_MS
  }

  /** Noted at once, so that of many who ask at a time one has it stored. */
  function put(key: string, entry: CacheEntry): Promise<void> {
    unstored.delete(entry.basis)
    storedAt.set(entry.basis, clock.monotonic())
    return inTurn(key, () => write(key, entry))
  }

  async function write(key: string, entry: CacheEntry): Promise<void> {
    const { value, projectId, computedAt, computeCostMs, usedAt, basis } = entry
    const body = await encodeResult(value, limits.entryBytesMax)
    if (!body) return
    const row = { projectId, computedAt, computeCostMs, usedAt, basis: JSON.stringify(basis), body }
    await writeGathered({ keyHash: hashKey(key), ...row })
    if (clock.monotonic() - evictedAt < EVICT_EVERY_MS) return
    evictedAt = clock.monotonic()
    await store.evict({ computedBefore: clock.now() - limits.ageMaxMs, bytesMax: limits.storeBytesMax })
  }

  async function watched(work: Promise<void>, failure: string): Promise<void> {
    await work.catch((error: unknown) => {
      log.warn({ err: error }, failure)
    })
  }

  /** Writes of one key go one after another, so that a renewal finds what it renews. */
  function inTurn(key: string, work: () => Promise<void>): Promise<void> {
    const turn = (writes.get(key) ?? Promise.resolve())
      .then(() => watched(work(), 'cache.write_failed'))
      .finally(() => {
        if (writes.get(key) === turn) writes.delete(key)
      })
    writes.set(key, turn)
    return turn
  }

  return {
    held: (key) => memory.get(key),
    find,
    keep: (key, computed, isStoredAtOnce) => {
      const content = describe(computed.value)
      if (!content || content.bytes > limits.entryBytesMax) return { entry: computed, written: null }
      const entry = { ...computed, ...content }
      const before = memory.get(key)
      memory.put(key, entry)
      const held = memory.get(key)
      // One that was begun later is there already.
      if (held && held !== entry) return { entry, written: null }
      const mayWait = gatherMs > 0 && held && !isStoredAtOnce && entry.computeCostMs < DEAR_FROM_MS
      if (!mayWait || (before && isStoreDue(before.basis))) {
        return { entry, written: put(key, entry) }
      }
      unstored.add(entry.basis)
      const lastStoredAt = before && storedAt.get(before.basis)
      if (lastStoredAt !== undefined) storedAt.set(entry.basis, lastStoredAt)
      return { entry, written: null }
    },
    renew: async (key, entry, computedAt) => {
      const renewed = { ...entry, computedAt, renderings: new Map() }
      memory.put(key, renewed)
      if (!unstored.has(entry.basis)) {
        await inTurn(key, () => store.renew(hashKey(key), { from: entry.computedAt, to: computedAt }))
      } else if (isStoreDue(entry.basis)) await put(key, renewed)
    },
    noteUse: (key, entry) => {
      if (unstored.has(entry.basis) && isStoreDue(entry.basis)) return put(key, entry)
      const usedAt = clock.now()
      if (usedAt - entry.usedAt < TOUCH_EVERY_MS) return null
      memory.put(key, { ...entry, usedAt })
      return watched(store.touch(hashKey(key), usedAt), 'cache.touch_failed')
    },
    keepRendering: memory.keepRendering,
  }
}

/** The name of a key in the control database. */
export function hashKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}
