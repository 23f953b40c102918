import type { ControlMigration } from '../migrate.ts'

/** Where in the bytes of its lane each message begins, so that what waits is a difference and need not be added up. */
export const queuedBytesMigration: ControlMigration = {
  name: '0070-queued-bytes',
  async up(db) {
    await db.schema
      .alterTable('webhook_lane_sequence')
      .addColumn('next_byte', 'bigint', (c) => c.notNull().defaultTo(0))
      .execute()
    await db.schema
      .alterTable('webhook_message')
      .addColumn('first_byte', 'bigint', (c) => c.notNull().defaultTo(0))
      .execute()
  },
}
