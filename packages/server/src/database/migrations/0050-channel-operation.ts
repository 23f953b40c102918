import type { Kysely } from 'kysely'
import type { ColumnTypes, ControlMigration } from '../migrate.ts'

/** What operating channels needs: rotation, TLS, rates, hosts, alerts, redrive, confirmations and retractions. */
export const channelOperationMigration: ControlMigration = {
  name: '0050-channel-operation',
  async up(db, column) {
    await extendLanes(db)
    await db.schema.alterTable('webhook_dead_letter').addColumn('redrive_at', 'bigint').execute()
    await db.schema.alterTable('webhook_sent').addColumn('head', 'text').execute()
    await createConfirmations(db, column)
  },
}

async function extendLanes(db: Kysely<unknown>): Promise<void> {
  for (const name of [
    'previous_secret',
    'certificate_authority',
    'client_certificate',
    'client_key',
    'host',
    'alert_channel',
  ]) {
    await db.schema.alterTable('webhook_lane').addColumn(name, 'text').execute()
  }
  for (const name of ['previous_secret_until_at', 'requests_per_second']) {
    await db.schema.alterTable('webhook_lane').addColumn(name, 'bigint').execute()
  }
  for (const name of ['confirmations', 'is_retracting', 'alert_level']) {
    await db.schema
      .alterTable('webhook_lane')
      .addColumn(name, 'bigint', (c) => c.notNull().defaultTo(0))
      .execute()
  }
  const lanes = db as Kysely<{ webhook_lane: { id: number; url: string | null; host: string | null } }>
  for (const { id, url } of await lanes.selectFrom('webhook_lane').select(['id', 'url']).execute()) {
    if (url === null) continue
    await lanes
      .updateTable('webhook_lane')
      .set({ host: new URL(url).host })
      .where('id', '=', id)
      .execute()
  }
}

async function createConfirmations(db: Kysely<unknown>, column: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('webhook_held_message')
    .addColumn('lane_id', 'bigint', (c) => c.notNull())
    .addColumn('event_id', 'bigint', (c) => c.notNull())
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('chain', 'text', (c) => c.notNull())
    .addColumn('block_number', 'bigint', (c) => c.notNull())
    .addColumn('seq', 'bigint', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .addColumn('body', column.bytes, (c) => c.notNull())
    .addColumn('held_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('webhook_held_message_key', ['lane_id', 'event_id'])
    .execute()
  await db.schema
    .createIndex('webhook_held_message_by_block')
    .on('webhook_held_message')
    .columns(['lane_id', 'chain', 'block_number'])
    .execute()
  await db.schema
    .createTable('webhook_retraction')
    .addColumn('lane_id', 'bigint', (c) => c.notNull())
    .addColumn('event_id', 'bigint', (c) => c.notNull())
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('chain', 'text', (c) => c.notNull())
    .addColumn('block_number', 'bigint', (c) => c.notNull())
    .addColumn('head', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('webhook_retraction_key', ['lane_id', 'event_id'])
    .execute()
  await db.schema
    .createTable('webhook_chain_head')
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('version', 'bigint', (c) => c.notNull())
    .addColumn('chain', 'text', (c) => c.notNull())
    .addColumn('block_number', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('webhook_chain_head_key', ['project_id', 'version', 'chain'])
    .execute()
}
