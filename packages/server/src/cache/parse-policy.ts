import type { CachePolicyRequest } from '@millrace/contract'
import { invalidArgument } from '../platform/errors.ts'
import type { CachePolicy } from './cache-policy.ts'

/** What holds where a caller says nothing (CA-2); configurable. */
export type CacheDefaults = Pick<CachePolicy, 'ttlSeconds' | 'refreshTtlSeconds'>

/** A long ttl and a short refresh ttl (interface 2.4): 15 days and 60 seconds. */
export const CACHE_DEFAULTS: CacheDefaults = { ttlSeconds: 15 * 86_400, refreshTtlSeconds: 60 }

/** Reads a caller's policy. A refresh ttl above the ttl counts as the ttl; refuses what CA-3 forbids. */
export function parseCachePolicy(
  wire: CachePolicyRequest | undefined,
  defaults: CacheDefaults = CACHE_DEFAULTS,
): CachePolicy {
  const ttlSeconds = seconds('cacheTtlSecs', wire?.cacheTtlSecs, defaults.ttlSeconds)
  const refreshTtlSeconds = seconds(
    'cacheRefreshTtlSecs',
    wire?.cacheRefreshTtlSecs,
    defaults.refreshTtlSeconds,
  )
  const isBypassed = wire?.noCache ?? false
  const isRefreshForced = wire?.forceRefresh ?? false
  if (isBypassed && isRefreshForced) {
    throw invalidArgument('cachePolicy: noCache and forceRefresh exclude each other; send one of them')
  }
  return {
    ttlSeconds,
    refreshTtlSeconds: Math.min(refreshTtlSeconds, ttlSeconds),
    isBypassed,
    isRefreshForced,
  }
}

function seconds(field: string, given: number | undefined, fallback: number): number {
  if (given === undefined) return fallback
  if (!Number.isFinite(given) || given < 0) {
    throw invalidArgument(`cachePolicy.${field} must be a number of seconds, 0 or more`)
  }
  return given
}
