import { CACHE_DECISIONS, type CacheDecision } from './decide.ts'

/** What the cache of this process has done since it started. */
export interface CacheCounts {
  /** Requests by what was decided about them. */
  readonly decisions: Readonly<Record<CacheDecision, number>>
  /** Answers computed, and refreshes that failed. */
  readonly computations: number
  readonly refreshFailures: number
}

/** Counts what happens. */
export interface CacheCounter {
  decided(decision: CacheDecision): void
  computed(): void
  refreshFailed(): void
  counts(): CacheCounts
}

export function createCacheCounter(): CacheCounter {
  const decisions = Object.fromEntries(Object.keys(CACHE_DECISIONS).map((name) => [name, 0])) as Record<
    CacheDecision,
    number
  >
  let [computations, refreshFailures] = [0, 0]
  return {
    decided: (decision) => void (decisions[decision] += 1),
    computed: () => void (computations += 1),
    refreshFailed: () => void (refreshFailures += 1),
    counts: () => ({ decisions: { ...decisions }, computations, refreshFailures }),
  }
}
