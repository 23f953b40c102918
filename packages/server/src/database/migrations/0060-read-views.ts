import type { ControlMigration } from '../migrate.ts'

/** What batches that are being stored touch, and which rollback began last: for a reader who wants one state of the data. */
export const readViewsMigration: ControlMigration = {
  name: '0060-read-views',
  up: async (db) => {
    await db.schema.alterTable('ingest_batch').addColumn('touches', 'text').execute()
    await db.schema
      .alterTable('data_version')
      .addColumn('last_rollback', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}
