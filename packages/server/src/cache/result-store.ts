/** An answer as it is kept. */
export interface StoredResult {
  readonly projectId: number
  /** What `encodeResult` makes. */
  readonly body: Uint8Array
  /** Epoch milliseconds at which its computation, or its last renewal, began. */
  readonly computedAt: number
  readonly computeCostMs: number
  /** When it was last stored or read, to the hour. */
  readonly usedAt: number
  /** JSON of what it was computed from. */
  readonly basis: string
}

/** An answer and the hash of its key. */
export interface KeyedResult extends StoredResult {
  readonly keyHash: Uint8Array
}

/** Where answers survive a restart and are shared by instances. Keys are SHA-256 hashes. */
export interface ResultStore {
  /** What is stored, if it was computed after `newerThan`. */
  read(keyHash: Uint8Array, newerThan: number): Promise<StoredResult | null>
  /** Stores answers of different keys, all or none; does not replace one that was computed later. */
  write(results: readonly KeyedResult[]): Promise<void>
  /** Gives an answer that still holds a new age. */
  renew(keyHash: Uint8Array, computedAt: { readonly from: number; readonly to: number }): Promise<void>
  touch(keyHash: Uint8Array, usedAt: number): Promise<void>
  /**
   * Drops answers computed before an instant; then, until the rest fit, the least recently used of the projects that hold most: no project
   * loses an answer while another one holds more.
   */
  evict(limits: { readonly computedBefore: number; readonly bytesMax: number }): Promise<void>
}
