import type { ColumnDefinitionBuilder } from 'kysely'
import type { ControlMigration } from '../migrate.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

/** Files of uploaded processors. */
export const processorUploadsMigration: ControlMigration = {
  name: '0012-processor-uploads',
  up: async (db, column) => {
    await db.schema
      .createTable('processor_file')
      .addColumn('token_hash', column.bytes, (builder) => builder.notNull().primaryKey())
      .addColumn('project_id', 'bigint', (builder) =>
        builder.notNull().references('project.id').onDelete('cascade'),
      )
      .addColumn('part', 'text', required)
      .addColumn('version', 'bigint')
      .addColumn('details', 'text')
      .addColumn('body', column.bytes)
      .addColumn('expected_at', 'bigint', required)
      .execute()
    await db.schema
      .createIndex('processor_file_version')
      .on('processor_file')
      .columns(['project_id', 'version'])
      .execute()
  },
}
