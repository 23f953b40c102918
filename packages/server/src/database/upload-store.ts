import type { UploadDetails, UploadStore } from '../projects/upload-store.ts'
import type { ControlDatabase } from './database.ts'
import { inTransaction } from './transaction.ts'

/** Files of processors in the control database. */
export function createUploadStore(db: ControlDatabase): UploadStore {
  return {
    expect: async ({ projectId, part, tokenHash }, nowMs, forgetBefore) =>
      inTransaction(db, async (tx) => {
        await tx
          .deleteFrom('processor_file')
          .where('version', 'is', null)
          .where((each) =>
            each.or([
              each('expected_at', '<', forgetBefore),
              each.and([each('project_id', '=', projectId), each('part', '=', part)]),
            ]),
          )
          .execute()
        await tx
          .insertInto('processor_file')
          .values({
            token_hash: tokenHash,
            project_id: projectId,
            part,
            version: null,
            details: null,
            body: null,
            expected_at: nowMs,
          })
          .execute()
      }),

    receive: async (tokenHash, body) => {
      const { numUpdatedRows } = await db
        .updateTable('processor_file')
        .set({ body })
        .where('token_hash', '=', tokenHash)
        .where('version', 'is', null)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    hasBundle: async (projectId) => {
      const row = await db
        .selectFrom('processor_file')
        .select('part')
        .where('project_id', '=', projectId)
        .where('version', 'is', null)
        .where('part', '=', 'bundle')
        .where('body', 'is not', null)
        .executeTakeFirst()
      return row !== undefined
    },

    finish: async (projectId, version, details) => {
      await db
        .updateTable('processor_file')
        .set({ version, details: JSON.stringify(details) })
        .where('project_id', '=', projectId)
        .where('version', 'is', null)
        .where('body', 'is not', null)
        .execute()
    },

    read: async (projectId, version, part) => {
      const row = await db
        .selectFrom('processor_file')
        .select('body')
        .where('project_id', '=', projectId)
        .where('version', '=', version)
        .where('part', '=', part)
        .executeTakeFirst()
      return row?.body ?? null
    },

    remove: async (projectId, version) => {
      await db
        .deleteFrom('processor_file')
        .where('project_id', '=', projectId)
        .where('version', '=', version)
        .execute()
    },

    details: async (projectId) => {
      const rows = await db
        .selectFrom('processor_file')
        .select(['version', 'details'])
        .where('project_id', '=', projectId)
        .where('version', 'is not', null)
        .where('part', '=', 'bundle')
        .execute()
      return new Map(rows.map((row) => [row.version ?? 0, JSON.parse(row.details ?? '{}') as UploadDetails]))
    },
  }
}
