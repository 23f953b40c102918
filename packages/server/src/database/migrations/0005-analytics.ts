import type { ColumnDefinitionBuilder } from 'kysely'
import type { ControlMigration } from '../migrate.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

/** Whole results of SQL statements, and secrets that all instances share. */
export const analyticsMigration: ControlMigration = {
  name: '0005-analytics',
  up: async (db, column) => {
    await db.schema
      .createTable('sql_result')
      .addColumn('id', 'text', (builder) => builder.primaryKey())
      .addColumn('project_id', 'bigint', required)
      .addColumn('columns', 'text', required)
      .addColumn('row_count', 'bigint')
      .addColumn('generated_at', 'bigint', required)
      .addColumn('used_at', 'bigint', required)
      .execute()
    await db.schema.createIndex('sql_result_used').on('sql_result').column('used_at').execute()
    await db.schema
      .createTable('sql_result_chunk')
      .addColumn('result_id', 'text', (builder) =>
        builder.notNull().references('sql_result.id').onDelete('cascade'),
      )
      .addColumn('project_id', 'bigint', required)
      .addColumn('first_row', 'bigint', required)
      .addColumn('row_count', 'bigint', required)
      .addColumn('body_bytes', 'bigint', required)
      .addColumn('body', column.bytes, required)
      .addPrimaryKeyConstraint('sql_result_chunk_key', ['result_id', 'first_row'])
      .execute()
    // Sums of bytes are read from this index alone.
    await db.schema
      .createIndex('sql_result_chunk_bytes')
      .on('sql_result_chunk')
      .columns(['project_id', 'body_bytes'])
      .execute()
    await db.schema
      .createTable('secret')
      .addColumn('name', 'text', (builder) => builder.primaryKey())
      .addColumn('value', column.bytes, required)
      .execute()
  },
}
