import type { ColumnDefinitionBuilder } from 'kysely'
import type { ControlMigration } from '../migrate.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

/** How far the data of each chain goes; of what was stored before it is known with its next batch. */
export const chainHeightsMigration: ControlMigration = {
  name: '0061-chain-heights',
  up: async (db) => {
    await db.schema
      .createTable('data_height')
      .addColumn('project_id', 'bigint', (column) =>
        column.notNull().references('project.id').onDelete('cascade'),
      )
      .addColumn('version', 'bigint', required)
      .addColumn('chain', 'text', required)
      .addColumn('height', 'bigint', required)
      .addPrimaryKeyConstraint('data_height_key', ['project_id', 'version', 'chain'])
      .execute()
  },
}
