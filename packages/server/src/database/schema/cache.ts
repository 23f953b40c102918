/** Stored answers of the read APIs. */
export interface CacheTables {
  cached_result: {
    /** SHA-256 of the key, 32 bytes: keys hold whole queries, which an index cannot. */
    key_hash: Uint8Array
    body_bytes: number
    computed_at: number
    compute_cost_ms: number
    /** When it was last stored or read, to the hour; the least recent go first when room is needed. */
    used_at: number
    /** JSON, compressed with zstd. */
    body: Uint8Array
  }
}
