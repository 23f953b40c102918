/** An answer as it is kept. */
export interface StoredResult {
  /** JSON, compressed with zstd. */
  readonly body: Uint8Array
  /** Epoch milliseconds at which its computation began. */
  readonly computedAt: number
  readonly computeCostMs: number
  /** When it was last stored or read, to the hour. */
  readonly usedAt: number
}

/** Where answers survive a restart and are shared by instances. Keys are SHA-256 hashes. */
export interface ResultStore {
  read(keyHash: Uint8Array): Promise<StoredResult | null>
  /** Does not replace an answer that was computed later. */
  write(keyHash: Uint8Array, result: StoredResult): Promise<void>
  touch(keyHash: Uint8Array, usedAt: number): Promise<void>
  /** Drops answers computed before an instant, then the least recently used until the rest fit. */
  evict(limits: { readonly computedBefore: number; readonly bytesMax: number }): Promise<void>
}
