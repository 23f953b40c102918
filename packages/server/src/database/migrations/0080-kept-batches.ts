import type { ControlMigration } from '../migrate.ts'

/** The bodies of batches that were answered before their facts were stored. */
export const keptBatchesMigration: ControlMigration = {
  name: '0080-kept-batches',
  up: async (db, column) => {
    await db.schema
      .createTable('ingest_kept')
      .addColumn('sequence', 'bigint', (builder) =>
        builder.primaryKey().references('ingest_batch.sequence').onDelete('cascade'),
      )
      .addColumn('content_type', 'text')
      .addColumn('body', column.bytes, (builder) => builder.notNull())
      .execute()
  },
}
