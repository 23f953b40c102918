import type { Generated } from 'kysely'

/** Stored answers of the read APIs, who computes them, and the data versions that tell whether they still hold (CA-6). */
export interface CacheTables {
  cached_result: {
    /** SHA-256 of the key, 32 bytes: keys hold whole queries, which an index cannot. */
    key_hash: Uint8Array
    project_id: number
    body_bytes: number
    computed_at: number
    compute_cost_ms: number
    /** When it was last stored or read, to the hour; the least recent go first when room is needed. */
    used_at: number
    /** JSON of what the answer depends on, and the data version it was computed at. */
    basis: string
    /** JSON, compressed with zstd. */
    body: Uint8Array
  }
  /** Who computes an answer now, or that nobody shall until then because it failed (CA-4). */
  cache_flight: {
    key_hash: Uint8Array
    owner: string
    state: 'computing' | 'paused'
    until: number
  }
  /** One row a processor version: how many changes there were, and the last one that was not at an open end. */
  data_version: {
    project_id: number
    version: number
    latest: number
    late: number
    /** The last change of which nobody knows what it touched. */
    whole: number
    /** The number of the rollback that began last. */
    last_rollback: Generated<number>
  }
  /** When the data of a name, chain and UTC day was last changed. */
  data_day: {
    project_id: number
    version: number
    name: string
    day: number
    chain: string
    latest: number
    late: number
    /** Never lowered, so that a rollback finds every day that it may touch. */
    highest_block: number
  }
  /** The highest block of a chain that the data holds records of, or was rolled back to. */
  data_height: {
    project_id: number
    version: number
    chain: string
    height: number
  }
  /** The time of the newest record of a name and chain. */
  data_frontier: {
    project_id: number
    version: number
    name: string
    chain: string
    newest_micros: number
  }
}
