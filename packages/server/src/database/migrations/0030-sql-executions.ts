import { sql, type ColumnDefinitionBuilder } from 'kysely'
import type { ControlMigration } from '../migrate.ts'

const required = (column: ColumnDefinitionBuilder) => column.notNull()

/** Results that are read while they are written, asynchronous executions, and saved queries. */
export const sqlExecutionsMigration: ControlMigration = {
  name: '0030-sql-executions',
  up: async (db) => {
    await db.schema.alterTable('sql_result').addColumn('failure', 'text').execute()
    await db.schema.alterTable('sql_result').addColumn('written_at', 'bigint').execute()
    // Rows are kept in another form from here on; no result lives longer than its last use and an hour.
    await sql`delete from sql_result_chunk`.execute(db)
    await sql`delete from sql_result`.execute(db)
    await db.schema
      .createTable('sql_query')
      .addColumn('id', 'text', (builder) => builder.primaryKey())
      .addColumn('project_id', 'bigint', required)
      .addColumn('name', 'text')
      .addColumn('sql', 'text', required)
      .addColumn('parameters', 'text', required)
      .addColumn('page_size', 'bigint')
      .addColumn('saved_at', 'bigint', required)
      .execute()
    await db.schema
      .createIndex('sql_query_name')
      .unique()
      .on('sql_query')
      .columns(['project_id', 'name'])
      .execute()
    await db.schema
      .createTable('sql_execution')
      .addColumn('id', 'text', (builder) => builder.primaryKey())
      .addColumn('project_id', 'bigint', required)
      .addColumn('query_id', 'text', required)
      .addColumn('version', 'bigint', required)
      .addColumn('status', 'text', required)
      .addColumn('page_size', 'bigint', required)
      .addColumn('owner', 'text', required)
      .addColumn('request_hash', 'text', required)
      .addColumn('idempotency_key', 'text')
      .addColumn('result_id', 'text', required)
      .addColumn('error', 'text')
      .addColumn('is_cancel_wanted', 'integer', (builder) => builder.notNull().defaultTo(0))
      .addColumn('scheduled_at', 'bigint', required)
      .addColumn('started_at', 'bigint')
      .addColumn('finished_at', 'bigint')
      .addColumn('beat_at', 'bigint', required)
      .execute()
    await db.schema
      .createIndex('sql_execution_idempotency')
      .unique()
      .on('sql_execution')
      .columns(['project_id', 'idempotency_key'])
      .execute()
    await db.schema
      .createIndex('sql_execution_status')
      .on('sql_execution')
      .columns(['status', 'beat_at'])
      .execute()
  },
}
