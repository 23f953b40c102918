import type { ApiKey } from './project.ts'

/** A key that is about to exist. */
export type NewKey = Pick<ApiKey, 'name' | 'owner' | 'permissions' | 'projectIds' | 'expiresAt'>

/** Where keys are kept. Secrets never come here, only their SHA-256 (AU-1). */
export interface KeyStore {
  insert(key: NewKey, hash: Uint8Array, nowMs: number): Promise<ApiKey>
  /** Makes the key of the first start; null when another instance just did. */
  insertFirstAdministrator(key: NewKey, hash: Uint8Array, nowMs: number): Promise<ApiKey | null>
  findByHash(hash: Uint8Array): Promise<StoredKey | null>
  find(keyId: number): Promise<ApiKey | null>
  /** By id; of one owner, or of all when null. Revoked ones too. */
  list(owner: string | null): Promise<readonly ApiKey[]>
  /** Keeps the instant of an earlier revocation. Null when there is no such key. */
  revoke(keyId: number, nowMs: number): Promise<ApiKey | null>
  /** Notes a use; an older one never overwrites a newer. */
  touch(keyId: number, usedAt: number): Promise<void>
}

/** A key with the hash it was stored under. */
export interface StoredKey {
  readonly key: ApiKey
  readonly hash: Uint8Array
}
