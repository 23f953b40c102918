import type { Insertable, Selectable } from 'kysely'
import type { KeyStore, NewKey } from '../projects/key-store.ts'
import type { ApiKey, Permission } from '../projects/project.ts'
import type { ControlDatabase } from './database.ts'
import type { ProjectTables } from './schema/projects.ts'

type KeyTable = ProjectTables['api_key']

/** Keys in the control database. */
export function createKeyStore(db: ControlDatabase): KeyStore {
  return {
    insert: async (key, hash, nowMs) =>
      fromRow(
        await db
          .insertInto('api_key')
          .values(toRow(key, hash, nowMs))
          .returningAll()
          .executeTakeFirstOrThrow(),
      ),

    insertFirstAdministrator: async (key, hash, nowMs) => {
      const row = await db
        .insertInto('api_key')
        .values({ ...toRow(key, hash, nowMs), bootstrap: 'administrator' })
        .onConflict((conflict) => conflict.column('bootstrap').doNothing())
        .returningAll()
        .executeTakeFirst()
      return row ? fromRow(row) : null
    },

    findByHash: async (hash) => {
      const row = await db.selectFrom('api_key').selectAll().where('hash', '=', hash).executeTakeFirst()
      return row ? { key: fromRow(row), hash: row.hash } : null
    },

    find: async (keyId) => {
      const row = await db.selectFrom('api_key').selectAll().where('id', '=', keyId).executeTakeFirst()
      return row ? fromRow(row) : null
    },

    list: async (owner) => {
      let query = db.selectFrom('api_key').selectAll().orderBy('id')
      if (owner !== null) query = query.where('owner', '=', owner)
      return (await query.execute()).map(fromRow)
    },

    revoke: async (keyId, nowMs) => {
      const row = await db
        .updateTable('api_key')
        .set((eb) => ({ revoked_at: eb.fn.coalesce('revoked_at', eb.val(nowMs)), bootstrap: null }))
        .where('id', '=', keyId)
        .returningAll()
        .executeTakeFirst()
      return row ? fromRow(row) : null
    },

    touch: async (keyId, usedAt) => {
      await db
        .updateTable('api_key')
        .set({ last_used_at: usedAt })
        .where('id', '=', keyId)
        .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', usedAt)]))
        .execute()
    },
  }
}

function toRow(key: NewKey, hash: Uint8Array, nowMs: number): Insertable<KeyTable> {
  return {
    hash,
    name: key.name,
    owner: key.owner,
    permissions: key.permissions.join(','),
    project_ids: key.projectIds ? JSON.stringify(key.projectIds) : null,
    bootstrap: null,
    created_at: nowMs,
    expires_at: key.expiresAt,
    revoked_at: null,
    last_used_at: null,
  }
}

function fromRow(row: Selectable<KeyTable>): ApiKey {
  return {
    id: row.id,
    name: row.name,
    owner: row.owner,
    permissions: row.permissions.split(',') as Permission[],
    projectIds: row.project_ids === null ? null : (JSON.parse(row.project_ids) as number[]),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  }
}
