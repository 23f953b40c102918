import { sql } from 'kysely'
import type { ControlMigration } from '../migrate.ts'

/** What is being written to a version is asked for by each computation; the batches that are done are many. */
export const openWritesMigration: ControlMigration = {
  name: '0062-open-writes',
  up: async (db) => {
    await db.schema
      .createIndex('ingest_batch_open')
      .on('ingest_batch')
      .columns(['project_id', 'version'])
      .where(sql<boolean>`state <> 'done'`)
      .execute()
  },
}
