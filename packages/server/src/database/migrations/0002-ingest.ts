import { sql, type ColumnDefinitionBuilder } from 'kysely'
import type { ControlMigration } from '../migrate.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

/** The undo log of ingest and the memory of batch ids. */
export const ingestMigration: ControlMigration = {
  name: '0002-ingest',
  up: async (db, column) => {
    await db.schema
      .createTable('ingest_batch')
      .addColumn('sequence', column.id, (builder) =>
        // SQLite would give the number of a deleted last row to the next one.
        column.id === 'integer' ? builder.primaryKey().autoIncrement() : builder.primaryKey(),
      )
      .addColumn('project_id', 'bigint', (builder) =>
        builder.notNull().references('project.id').onDelete('cascade'),
      )
      .addColumn('version', 'bigint', required)
      .addColumn('kind', 'text', required)
      .addColumn('batch_id', 'text')
      .addColumn('content_hash', 'text')
      .addColumn('state', 'text', required)
      .addColumn('owner', 'text', required)
      .addColumn('lease_until', 'bigint', required)
      .addColumn('detail', 'text', required)
      .addColumn('answer', 'text')
      .addColumn('finished_at', 'bigint')
      .addUniqueConstraint('ingest_batch_id', ['project_id', 'version', 'batch_id'])
      .execute()
    await db.schema
      .createIndex('ingest_batch_unfinished')
      .on('ingest_batch')
      .column('lease_until')
      .where(sql<boolean>`state <> 'done'`)
      .execute()
    await db.schema
      .createIndex('ingest_batch_finished')
      .on('ingest_batch')
      .column('finished_at')
      .where(sql<boolean>`state = 'done'`)
      .execute()
  },
}
