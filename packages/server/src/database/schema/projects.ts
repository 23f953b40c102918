import type { Generated } from 'kysely'

/** Projects, their processor versions, and keys. */
export interface ProjectTables {
  project: {
    /** Never given out twice: keys, facts and queues of a deleted project must not pass to a new one. */
    id: Generated<number>
    owner: string
    name: string
    type: 'processor' | 'subgraph'
    is_public: number
    /** The version that queries read by default; null until there is one. */
    active_version: number | null
    created_at: number
  }
  project_version: {
    project_id: number
    number: number
    /** A deleted one stays, so that its number is not given out again. */
    state: 'pending' | 'active' | 'deleted'
    created_at: number
  }
  api_key: {
    id: Generated<number>
    /** SHA-256 of the secret, 32 bytes. */
    hash: Uint8Array
    name: string
    owner: string | null
    /** Permissions joined by commas. */
    permissions: string
    /** JSON array of project ids; null is all projects of the owner. */
    project_ids: string | null
    /** `administrator` for the key that the first start makes, so that two instances cannot make two; else null. */
    bootstrap: string | null
    created_at: number
    expires_at: number | null
    revoked_at: number | null
    last_used_at: number | null
  }
}
