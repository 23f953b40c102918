/** What a key may do: `read` queries and pulls, `write` ingests and uploads, `admin` manages channels, keys and settings (AU-2). */
export const PERMISSIONS = ['read', 'write', 'admin'] as const
export type Permission = (typeof PERMISSIONS)[number]

/** A project, addressed on the wire as `{owner}/{name}`. */
export interface Project {
  readonly id: number
  readonly owner: string
  readonly name: string
  readonly type: 'processor' | 'subgraph'
  /** A public project can be queried without a key (AU-3). */
  readonly isPublic: boolean
  /** The processor version that queries read by default (MQ-9, IN-4); null until the first one exists. */
  readonly activeVersion: number | null
}

/** An API key as far as it may be known after its creation; the secret is stored as a hash only (AU-1). */
export interface ApiKey {
  readonly id: number
  readonly name: string
  /** The owner whose projects it opens; null is the administrator of the whole service. */
  readonly owner: string | null
  readonly permissions: readonly Permission[]
  /** The projects it is limited to; null is all projects of the owner. */
  readonly projectIds: readonly number[] | null
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly lastUsedAt: number | null
}
