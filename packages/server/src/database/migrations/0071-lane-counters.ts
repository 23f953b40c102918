import { sql, type Kysely } from 'kysely'
import type { ControlMigration } from '../migrate.ts'

/**
 * The counters of a lane, by a key that each change raises: PostgreSQL then finds the newest version of the row first, however many older ones
 * it has to keep for somebody's snapshot.
 */
export const laneCountersMigration: ControlMigration = {
  name: '0071-lane-counters',
  async up(db) {
    await db.schema
      .createTable('webhook_lane_counter')
      .addColumn('lane_id', 'bigint', (c) => c.notNull())
      .addColumn('next_seq', 'bigint', (c) => c.notNull())
      .addColumn('next_chunk', 'bigint', (c) => c.notNull())
      .addColumn('next_byte', 'bigint', (c) => c.notNull())
      .addPrimaryKeyConstraint('webhook_lane_counter_key', ['lane_id', 'next_seq'])
      .execute()
    await copyCounters(db)
    await db.schema.dropTable('webhook_lane_sequence').execute()
  },
}

async function copyCounters(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert into webhook_lane_counter (lane_id, next_seq, next_chunk, next_byte)
    select lane_id, next_seq, next_chunk, next_byte from webhook_lane_sequence`.execute(db)
}
