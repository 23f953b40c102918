import type { ColumnDefinitionBuilder } from 'kysely'
import type { ControlMigration } from '../migrate.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

/** Stored answers of the read APIs. */
export const cacheMigration: ControlMigration = {
  name: '0004-cache',
  up: async (db, column) => {
    await db.schema
      .createTable('cached_result')
      .addColumn('key_hash', column.bytes, (builder) => builder.primaryKey())
      .addColumn('body_bytes', 'bigint', required)
      .addColumn('computed_at', 'bigint', required)
      .addColumn('compute_cost_ms', 'bigint', required)
      .addColumn('used_at', 'bigint', required)
      // Last, because SQLite walks through a long value to reach the columns behind it.
      .addColumn('body', column.bytes, required)
      .execute()
    await db.schema
      .createIndex('cached_result_used')
      .on('cached_result')
      .columns(['used_at', 'key_hash', 'body_bytes'])
      .execute()
  },
}
