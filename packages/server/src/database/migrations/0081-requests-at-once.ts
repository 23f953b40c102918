import type { ControlMigration } from '../migrate.ts'

/** How many requests a channel may have under way (DL-3); those that exist keep one at a time. */
export const requestsAtOnceMigration: ControlMigration = {
  name: '0081-requests-at-once',
  up: async (db) => {
    await db.schema
      .alterTable('webhook_lane')
      .addColumn('requests_at_once', 'bigint', (column) => column.notNull().defaultTo(1))
      .execute()
  },
}
