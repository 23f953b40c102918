import type { AnsweredWrites } from './answered-writes.ts'
import type { Clock } from '../platform/clock.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import type { AskAgain, Cached, CacheDetails, CachePolicy, Question, ResultCache } from './cache-policy.ts'
import { createCacheCounter, type CacheCounts } from './cache-counts.ts'
import { SOLE_CLAIMS, type Claims } from './claims.ts'
import type { DataVersions } from './data-versions.ts'
import { CACHE_DECISIONS, decideCache, type CacheDecision, type FlightState } from './decide.ts'
import { createKeptResults, type CacheLimits } from './kept-results.ts'
import type { CacheEntry } from './memory-level.ts'
import { createPauses } from './pauses.ts'
import type { ReadViews } from './read-view.ts'
import type { ResultStore } from './result-store.ts'

export interface ResultCacheOptions {
  readonly store: ResultStore
  readonly versions: DataVersions
  readonly views: ReadViews
  /** Absent where every batch is stored before it is answered. */
  readonly answered?: AnsweredWrites
  /** Absent where no other instance shares the store. */
  readonly claims?: Claims
  readonly clock: Clock
  readonly sleep: (ms: number) => Promise<unknown>
  readonly log: Pick<Logger, 'warn'>
  readonly limits?: Partial<CacheLimits>
}

const DEFAULT_LIMITS: CacheLimits = {
  memoryBytesMax: 64 * 2 ** 20,
  storeBytesMax: 2 ** 30,
  entryBytesMax: 32 * 2 ** 20,
  ageMaxMs: 30 * 86_400_000,
}

/** How long a miss waits for another instance before it computes by itself, and how often it looks. */
const WAIT_MAX_MS = 10_000
const LOOK_EVERY_MS = 50
/** How long another instance that has a key is taken to be at it. */
const ELSEWHERE_MS = 500
/** How long a refresh lets answers go first: that which it renews, and those to the other queries of a dashboard. */
const REFRESH_AFTER_MS = 50
/** How long answers wait to be stored together, where nobody else waits for them. */
const GATHER_MS = 200

/** A cache with work that goes on after the answer. */
export interface RunningResultCache extends ResultCache {
  /** Resolves when no refresh and no write is under way; for an orderly stop. */
  settled(): Promise<void>
  counts(): CacheCounts
}

/** A computation, or a refresh, which ends without an answer when another instance is at it. */
type Flight = Promise<CacheEntry | null>

/**
 * Answers from memory, then from the store, then by computing (CA-2…CA-6). Answers are JSON values with rows of numbers and texts of bytes, shared between callers, and must not
 * be changed. A computation is shared by all who miss while it runs. A forced one shares with no computation that began earlier, because that
 * may not see what the caller wants to see. The store is an aid: when it fails, answers are computed.
 */
export function createResultCache(options: ResultCacheOptions): RunningResultCache {
  const { store, versions, views, answered, clock, log, sleep, claims = SOLE_CLAIMS } = options
  const isSole = claims === SOLE_CLAIMS
  const kept = createKeptResults({
    store,
    clock,
    log,
    sleep,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    gatherMs: isSole ? GATHER_MS : 0,
  })
  const pauses = createPauses(clock)
  const counter = createCacheCounter()
  /** The newest work on each key. */
  const flights = new Map<string, Flight>()
  const forcedFlights = new Map<string, { running: Promise<CacheEntry>; next: Promise<CacheEntry> | null }>()
  /** Keys that another instance works on, and until when (monotonic) that is believed. */
  const elsewhere = new Map<string, number>()
  const background = new Set<Promise<unknown>>()

  async function through<Value>(question: Question<Value>, policy: CachePolicy): Promise<Cached<Value>> {
    const { key, owner } = question
    if (answered?.has(owner)) await answered.whenStored(owner, () => question.scope(clock.now()).coverage)
    let entry: CacheEntry | undefined
    let source: CacheDetails['source'] = 'memory'
    let decision = decideCache(policy, null, 'none')
    if (decision === 'bypass')
      return answer(key, await measure(question, false), policy, decision, 'computed')
    if (decision === 'force') return answer(key, await force(question), policy, decision, 'computed')
    entry = kept.held(key)
    decision = await decide(key, entry, policy)
    if (mayBeStoredNewer(decision, entry)) {
      const stored = await kept.find(key)
      if (stored !== entry) [entry, source] = [stored, 'store']
      decision = await decide(key, entry, policy)
    }
    if (!entry || !CACHE_DECISIONS[decision].isCached) {
      return answer(key, await join(question, policy), policy, decision, 'computed')
    }
    inBackground(kept.noteUse(key, entry))
    if (decision === 'serve_and_refresh') {
      const due = entry
      takeOff(
        key,
        sleep(REFRESH_AFTER_MS).then(() => refresh(question, due)),
      )
    }
    return answer(key, entry, policy, decision, source)
  }

  /** Apart from `answer`, whose values it must not hold. */
  function againOf<Value>(key: string, policy: CachePolicy): AskAgain<Value> {
    return () => {
      const entry = kept.held(key)
      if (!entry || !versions.isKnownToHold(entry.basis)) return null
      if (answered?.has(entry.basis.owner)) return null
      const decision = decideEntry(key, entry, policy, false)
      if (decision !== 'serve') return null
      inBackground(kept.noteUse(key, entry))
      return answer(key, entry, policy, decision, 'memory')
    }
  }

  async function decide(
    key: string,
    entry: CacheEntry | undefined,
    policy: CachePolicy,
  ): Promise<CacheDecision> {
    if (!entry || (await isDeleted(entry))) return decideCache(policy, null, flightState(key))
    return decideEntry(key, entry, policy, await judgeLate(entry))
  }

  function decideEntry(key: string, entry: CacheEntry, policy: CachePolicy, isLate: boolean): CacheDecision {
    return decideCache(policy, { ageMs: clock.now() - entry.computedAt, isLate }, flightState(key))
  }

  /** While that cannot be asked, answers are given as before. */
  async function isDeleted({ basis }: CacheEntry): Promise<boolean> {
    try {
      return await versions.isDeleted(basis)
    } catch (error) {
      log.warn({ err: error }, 'cache.data_version_failed')
      return false
    }
  }

  /** An answer whose data cannot be asked for is judged by its age alone. */
  async function judgeLate({ basis }: CacheEntry): Promise<boolean> {
    try {
      return await versions.isLate(basis)
    } catch (error) {
      log.warn({ err: error }, 'cache.data_version_failed')
      return false
    }
  }

  /** Another instance may have renewed what this one holds. */
  function mayBeStoredNewer(decision: CacheDecision, entry: CacheEntry | undefined): boolean {
    return decision !== 'serve' && (entry === undefined ? decision !== 'wait' : !isSole)
  }

  function flightState(key: string): FlightState {
    if (flights.has(key) || (elsewhere.get(key) ?? 0) > clock.monotonic()) return 'running'
    return pauses.isPaused(key) ? 'paused' : 'none'
  }

  /** Shares the computation under way, or begins one. */
  async function join(question: Question<unknown>, policy: CachePolicy): Promise<CacheEntry> {
    const { key } = question
    for (let flight = flights.get(key); flight; flight = flights.get(key)) {
      try {
        const entry = await flight
        if (entry) return entry
      } catch (error) {
        // Whoever began it went away; those who wait for it did not.
        if (!isCancelled(error)) throw error
      }
    }
    const computing = computeOnce(question, policy)
    takeOff(key, computing)
    return computing
  }

  function takeOff(key: string, flight: Flight): void {
    const watched = flight.finally(() => {
      if (flights.get(key) === watched) flights.delete(key)
    })
    flights.set(key, watched)
    inBackground(watched.catch(() => undefined))
  }

  /** Computes, unless another instance does: then waits for its answer, within bounds. */
  async function computeOnce(question: Question<unknown>, policy: CachePolicy): Promise<CacheEntry> {
    const { key } = question
    const waitsUntil = clock.monotonic() + WAIT_MAX_MS
    let isMine = await claims.claim(key, false)
    while (!isMine && clock.monotonic() < waitsUntil) {
      await sleep(LOOK_EVERY_MS)
      const entry = await kept.find(key)
      if (entry && (await isUsable(entry, policy))) return entry
      isMine = await claims.claim(key, false)
    }
    // Whoever had the claim before may have ended after this instance last looked.
    const entry = isSole ? undefined : await kept.find(key)
    if (entry && (await isUsable(entry, policy))) {
      if (isMine) inBackground(claims.release(key))
      return entry
    }
    try {
      return await computeAndKeep(question)
    } catch (error) {
      inBackground(claims.release(key))
      throw error
    }
  }

  /** Does it do for a caller who would otherwise have it computed? */
  async function isUsable(entry: CacheEntry, policy: CachePolicy): Promise<boolean> {
    const ageMs = clock.now() - entry.computedAt
    return ageMs <= policy.ttlSeconds * 1000 && !(await judgeLate(entry))
  }

  /** Gives the answer at once; the claim goes when others can find the answer in the store. */
  async function computeAndKeep(question: Question<unknown>, isForced = false): Promise<CacheEntry> {
    const { key } = question
    const { entry, written } = kept.keep(key, await measure(question, !isForced), isForced)
    pauses.clear(key)
    inBackground((written ?? Promise.resolve()).then(() => claims.release(key)))
    return entry
  }

  /** Renews an answer: for nothing where it would come out the same (CA-6), else by computing it. */
  async function refresh(question: Question<unknown>, entry: CacheEntry): Promise<CacheEntry | null> {
    const { key } = question
    if (!(await claims.claim(key, true))) {
      elsewhere.set(key, clock.monotonic() + ELSEWHERE_MS)
      return null
    }
    elsewhere.delete(key)
    try {
      const newer = isSole ? kept.held(key) : await kept.find(key)
      if (newer && newer.computedAt > entry.computedAt) {
        await claims.release(key)
        return newer
      }
      const nowMs = clock.now()
      const isSame = question.scope(nowMs).signature === entry.basis.signature
      if (!isSame || !(await versions.isUnchanged(entry.basis))) return await computeAndKeep(question)
      await kept.renew(key, entry, nowMs)
      pauses.clear(key)
      await claims.release(key)
      return kept.held(key) ?? entry
    } catch (error) {
      counter.refreshFailed()
      const failure = pauses.note(key, error instanceof Error ? error.message : String(error))
      log.warn({ err: error, attempts: failure.attempts, retryAt: failure.retryAt }, 'cache.refresh_failed')
      await claims.pause(key, failure.retryAt)
      throw error
    }
  }

  /** Those who force while a forced computation runs share the next one, which begins when it ends. */
  async function force(question: Question<unknown>): Promise<CacheEntry> {
    const { key } = question
    for (;;) {
      const ahead = forcedFlights.get(key)
      if (!ahead) return begin()
      ahead.next ??= ahead.running.then(begin, begin)
      try {
        return await ahead.next
      } catch (error) {
        if (!isCancelled(error)) throw error
      }
    }

    function begin(): Promise<CacheEntry> {
      const running = computeAndKeep(question, true).finally(() => {
        if (forcedFlights.get(key)?.running === running) forcedFlights.delete(key)
      })
      forcedFlights.set(key, { running, next: null })
      takeOff(key, running)
      return running
    }
  }

  async function measure(question: Question<unknown>, mayReuse: boolean): Promise<CacheEntry> {
    const startedAt = clock.monotonic()
    const { value, computedAt, basis } = await views.compute(question, mayReuse)
    counter.computed()
    const computeCostMs = Math.round(clock.monotonic() - startedAt)
    return {
      value,
      projectId: question.owner.projectId,
      basis,
      bytes: 0,
      etag: null,
      computedAt,
      computeCostMs,
      usedAt: computedAt,
      renderings: new Map(),
    }
  }

  function answer<Value>(
    key: string,
    entry: CacheEntry,
    policy: CachePolicy,
    decision: CacheDecision,
    source: CacheDetails['source'],
  ): Cached<Value> {
    const { value, computedAt, computeCostMs, basis, etag, bytes } = entry
    const { isCached, isRefreshing } = CACHE_DECISIONS[decision]
    counter.decided(decision)
    const details = {
      source,
      ageMs: Math.max(0, clock.now() - computedAt),
      expiresAt: bytes > 0 ? computedAt + policy.ttlSeconds * 1000 : null,
      dataVersion: basis.dataVersion,
      // Absent in what an earlier release has stored.
      heights: basis.heights ?? {},
      failure: isCached ? pauses.failureOf(key) : null,
    }
    return {
      value: value as Value,
      stats: { computedAt, isCached, isRefreshing, computeCostMs, details },
      etag,
      again: againOf(key, policy),
      rendering: (variant) => entry.renderings.get(variant),
      rendered: async (variant, make) => {
        const known = entry.renderings.get(variant)
        if (known) return known
        const made = await make()
        kept.keepRendering(key, entry, variant, made)
        return made
      },
    }
  }

  function inBackground(work: Promise<unknown> | null): void {
    if (!work) return
    const watched = work.finally(() => background.delete(watched))
    background.add(watched)
  }

  return {
    through,
    counts: counter.counts,
    settled: async () => {
      while (background.size > 0) await Promise.all(background)
    },
  }
}

function isCancelled(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'cancelled'
}
