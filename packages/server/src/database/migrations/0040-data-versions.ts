import type { ColumnDefinitionBuilder } from 'kysely'
import type { ControlMigration } from '../migrate.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()
const project = (column: ColumnDefinitionBuilder) =>
  column.notNull().references('project.id').onDelete('cascade')

/** Data versions, and stored answers that know what they depend on. What was stored before is computed again. */
export const dataVersionsMigration: ControlMigration = {
  name: '0040-data-versions',
  up: async (db, column) => {
    await db.schema.dropTable('cached_result').execute()
    await db.schema
      .createTable('cached_result')
      .addColumn('key_hash', column.bytes, (builder) => builder.primaryKey())
      .addColumn('project_id', 'bigint', required)
      .addColumn('body_bytes', 'bigint', required)
      .addColumn('computed_at', 'bigint', required)
      .addColumn('compute_cost_ms', 'bigint', required)
      .addColumn('used_at', 'bigint', required)
      .addColumn('basis', 'text', required)
      // Last, because SQLite walks through a long value to reach the columns behind it.
      .addColumn('body', column.bytes, required)
      .execute()
    await db.schema
      .createIndex('cached_result_used')
      .on('cached_result')
      .columns(['project_id', 'used_at', 'key_hash', 'body_bytes'])
      .execute()
    await db.schema
      .createTable('cache_flight')
      .addColumn('key_hash', column.bytes, (builder) => builder.primaryKey())
      .addColumn('owner', 'text', required)
      .addColumn('state', 'text', required)
      .addColumn('until', 'bigint', required)
      .execute()
    await db.schema
      .createTable('data_version')
      .addColumn('project_id', 'bigint', project)
      .addColumn('version', 'bigint', required)
      .addColumn('latest', 'bigint', required)
      .addColumn('late', 'bigint', required)
      .addColumn('whole', 'bigint', required)
      .addPrimaryKeyConstraint('data_version_key', ['project_id', 'version'])
      .execute()
    await db.schema
      .createTable('data_day')
      .addColumn('project_id', 'bigint', project)
      .addColumn('version', 'bigint', required)
      .addColumn('name', 'text', required)
      .addColumn('day', 'bigint', required)
      .addColumn('chain', 'text', required)
      .addColumn('latest', 'bigint', required)
      .addColumn('late', 'bigint', required)
      .addColumn('highest_block', 'bigint', required)
      .addPrimaryKeyConstraint('data_day_key', ['project_id', 'version', 'name', 'day', 'chain'])
      .execute()
    await db.schema
      .createTable('data_frontier')
      .addColumn('project_id', 'bigint', project)
      .addColumn('version', 'bigint', required)
      .addColumn('name', 'text', required)
      .addColumn('chain', 'text', required)
      .addColumn('newest_micros', 'bigint', required)
      .addPrimaryKeyConstraint('data_frontier_key', ['project_id', 'version', 'name', 'chain'])
      .execute()
  },
}
