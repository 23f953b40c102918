import type { CachePolicy } from './cache-policy.ts'

/**
 * What to do about one request, from the caller's policy and the age of the stored answer:
 *
 * - `bypass`: compute, touch nothing.
 * - `compute`: compute and store.
 * - `serve`: the stored answer as it is.
 * - `serve_and_refresh`: the stored answer, and renew it in the background.
 */
export type CacheDecision = 'bypass' | 'compute' | 'serve' | 'serve_and_refresh'

/**
 * The whole of CA-2 and CA-3. `ageMs` is null when nothing is stored, and below zero when the clock went back: such an
 * answer counts as new.
 */
export function decideCache(policy: CachePolicy, ageMs: number | null): CacheDecision {
  if (policy.isBypassed) return 'bypass'
  if (policy.isRefreshForced || ageMs === null || ageMs > policy.ttlSeconds * 1000) return 'compute'
  return ageMs > policy.refreshTtlSeconds * 1000 ? 'serve_and_refresh' : 'serve'
}
