import type { CachePolicy } from './cache-policy.ts'

/** What is done about one request, and what each decision means. `docs/cache.md` shows this table; a test keeps them equal. */
export const CACHE_DECISIONS = {
  /** Computed; nothing is read or kept. */
  bypass: { answer: 'computed', stores: 'no', refreshes: 'no', isCached: false, isRefreshing: false },
  /** Computed now, beside whatever runs, and kept. */
  force: { answer: 'computed', stores: 'yes', refreshes: 'no', isCached: false, isRefreshing: false },
  /** Computed and kept; those who ask meanwhile wait for it. */
  compute: { answer: 'computed', stores: 'yes', refreshes: 'no', isCached: false, isRefreshing: false },
  /** The computation under way is waited for. */
  wait: { answer: 'computed', stores: 'no', refreshes: 'no', isCached: false, isRefreshing: false },
  /** The stored answer as it is. */
  serve: { answer: 'stored', stores: 'no', refreshes: 'no', isCached: true, isRefreshing: false },
  /** The stored answer, and a refresh begins in the background. */
  serve_and_refresh: {
    answer: 'stored',
    stores: 'yes',
    refreshes: 'yes',
    isCached: true,
    isRefreshing: true,
  },
  /** The stored answer, while a refresh is under way already. */
  serve_meanwhile: { answer: 'stored', stores: 'no', refreshes: 'no', isCached: true, isRefreshing: true },
} as const

export type CacheDecision = keyof typeof CACHE_DECISIONS

/** What is known of a stored answer. */
export interface StoredState {
  /** Below zero when the clock went back: such an answer counts as new. */
  readonly ageMs: number
  /** Late data or a rollback has changed what it covers (CA-6). */
  readonly isLate: boolean
}

/** What happens for the key: nothing; it is computed; a refresh failed and the next one waits. */
export type FlightState = 'none' | 'running' | 'paused'

/** The whole of CA-2, CA-3, CA-4 and CA-6. `stored` is null when nothing is stored. */
export function decideCache(
  policy: CachePolicy,
  stored: StoredState | null,
  flight: FlightState,
): CacheDecision {
  if (policy.isBypassed) return 'bypass'
  if (policy.isRefreshForced) return 'force'
  if (stored === null || stored.ageMs > policy.ttlSeconds * 1000)
    return flight === 'running' ? 'wait' : 'compute'
  if (!stored.isLate && stored.ageMs <= policy.refreshTtlSeconds * 1000) return 'serve'
  if (flight === 'running') return 'serve_meanwhile'
  return flight === 'paused' ? 'serve' : 'serve_and_refresh'
}
