import type { ColumnDefinitionBuilder } from 'kysely'
import type { ControlMigration } from '../migrate.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

/** Projects, processor versions and keys. */
export const projectsMigration: ControlMigration = {
  name: '0001-projects',
  up: async (db, column) => {
    // SQLite gives the id of a deleted last row to the next one unless told to count on; PostgreSQL never does.
    const identity = (builder: ColumnDefinitionBuilder) =>
      column.id === 'integer' ? builder.primaryKey().autoIncrement() : builder.primaryKey()
    await db.schema
      .createTable('project')
      .addColumn('id', column.id, identity)
      .addColumn('owner', 'text', required)
      .addColumn('name', 'text', required)
      .addColumn('type', 'text', required)
      .addColumn('is_public', 'integer', required)
      .addColumn('active_version', 'bigint')
      .addColumn('created_at', 'bigint', required)
      .addUniqueConstraint('project_address', ['owner', 'name'])
      .execute()
    await db.schema
      .createTable('project_version')
      .addColumn('project_id', 'bigint', (builder) =>
        builder.notNull().references('project.id').onDelete('cascade'),
      )
      .addColumn('number', 'bigint', required)
      .addColumn('state', 'text', required)
      .addColumn('created_at', 'bigint', required)
      .addPrimaryKeyConstraint('project_version_key', ['project_id', 'number'])
      .execute()
    await db.schema
      .createTable('api_key')
      .addColumn('id', column.id, identity)
      .addColumn('hash', column.bytes, (builder) => builder.notNull().unique())
      .addColumn('name', 'text', required)
      .addColumn('owner', 'text')
      .addColumn('permissions', 'text', required)
      .addColumn('project_ids', 'text')
      .addColumn('bootstrap', 'text', (builder) => builder.unique())
      .addColumn('created_at', 'bigint', required)
      .addColumn('expires_at', 'bigint')
      .addColumn('revoked_at', 'bigint')
      .addColumn('last_used_at', 'bigint')
      .execute()
  },
}
