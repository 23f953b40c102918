/** A caller's wishes for one answer (interface 2.4), with the defaults of CA-2 filled in. */
export interface CachePolicy {
  readonly ttlSeconds: number
  readonly refreshTtlSeconds: number
  readonly isBypassed: boolean
  readonly isRefreshForced: boolean
}

/** What an answer says of itself (interface 2.5, CA-5). */
export interface CacheStats {
  /** Epoch milliseconds. */
  readonly computedAt: number
  readonly isCached: boolean
  readonly isRefreshing: boolean
  readonly computeCostMs: number
}

/** An answer and where it came from. */
export interface Cached<Value> {
  readonly value: Value
  readonly stats: CacheStats
}

/** Answers through the cache. `compute` is called at most once at a time for one key (CA-4). */
export interface ResultCache {
  through<Value>(key: string, policy: CachePolicy, compute: () => Promise<Value>): Promise<Cached<Value>>
}
