import type { Generated } from 'kysely'

/** The undo log of ingest and the memory of batch ids. */
export interface IngestTables {
  ingest_batch: {
    /** Never given out twice: facts carry it, and a deduplication token is made of it. */
    sequence: Generated<number>
    project_id: number
    version: number
    kind: 'batch' | 'rollback'
    /** The client's or a made one; null for a rollback. */
    batch_id: string | null
    /** SHA-256 of the body, hexadecimal. */
    content_hash: string | null
    /** `open`: being stored. `cancelled`: being taken back, never to be done. `done`: answered. */
    state: 'open' | 'cancelled' | 'done'
    /** The instance that works on it, and until when nobody else may take it over. */
    owner: string
    lease_until: number
    /** JSON: the tables of a batch, or chain and block of a rollback. */
    detail: string
    /** JSON of the names and times that a batch touches; null stands for anything. */
    touches: string | null
    /** JSON of the answer, once it was given: with that of a batch whose body is kept it is open still. */
    answer: string | null
    finished_at: number | null
  }
  /** What was answered before its facts were stored, until they are. */
  ingest_kept: {
    sequence: number
    content_type: string | null
    body: Uint8Array
  }
}
