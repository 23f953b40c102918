import type { Coverage, DataOwner } from './data-version-store.ts'
import type { Reading } from './snapshot.ts'

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
  /** Beyond the interface; absent where no cache was involved. */
  readonly details?: CacheDetails
}

/** What else can be said of an answer that went through the cache. */
export interface CacheDetails {
  /** Where it came from: computed for this request (or one that it waited for), or kept in memory or in the control database. */
  readonly source: 'computed' | 'memory' | 'store'
  readonly ageMs: number
  /** Epoch milliseconds from which this caller's policy takes it no more; null for an answer that is not kept. */
  readonly expiresAt: number | null
  /** How many changes of the processor version's data it includes (CA-6). */
  readonly dataVersion: number | null
  /** The highest block of each chain that the data held when it was computed. */
  readonly heights: Readonly<Record<string, number>>
  /** Why it was not renewed when it was last tried, and when it will be tried again (epoch milliseconds). */
  readonly failure: RefreshFailure | null
}

/** A refresh that failed; the old answer goes on serving (CA-4). */
export interface RefreshFailure {
  readonly message: string
  readonly attempts: number
  readonly retryAt: number
}

/** An answer and where it came from. */
export interface Cached<Value> {
  readonly value: Value
  readonly stats: CacheStats
  /** The same for equal values; null when the answer is not kept. */
  readonly etag: string | null
  /**
   * Bytes made of the value: made once for each `variant` and kept as long as the answer is. All that goes into them must follow from value,
   * `stats.computedAt`, `stats.computeCostMs` and the variant.
   */
  rendered(variant: string, make: () => Promise<Uint8Array>): Promise<Uint8Array>
  /** Such bytes, where they were made already and are kept. */
  rendering(variant: string): Uint8Array | undefined
  /**
   * What the same question with the same policy is answered now, where it is known without a wait that nothing besides giving the stored answer
   * is decided (CA-2); else null, and nothing is done. Holds no value, so it may be kept.
   */
  readonly again: AskAgain<Value>
}

/** Asks the same question again. */
export type AskAgain<Value> = () => Cached<Value> | null

/** What an answer that is computed at a certain time stands on. */
export interface AnswerScope {
  readonly coverage: Coverage
  /** Everything besides the data that decides the answer, such as its grid. Equal signature and unchanged data give an equal answer. */
  readonly signature: string
}

/** A request as the cache sees it. */
export interface Question<Value> {
  /** Its meaning (CA-1), the same for all who mean the same. */
  readonly key: string
  readonly owner: DataOwner
  /** What the answer depends on when it is computed at `nowMs`. */
  scope(nowMs: number): AnswerScope
  /** Called at most once at a time for one key (CA-4), except by those who forbid or force. */
  compute(nowMs: number, reading: Reading): Promise<Value>
  /**
   * Is everything read by one statement, which can leave nothing out? Then it waits a little for batches that are being stored, is not computed
   * again for what is written meanwhile, and is due as soon as that is whole.
   */
  readonly readsOnce?: true
}

/** Answers through the cache. */
export interface ResultCache {
  through<Value>(question: Question<Value>, policy: CachePolicy): Promise<Cached<Value>>
}
