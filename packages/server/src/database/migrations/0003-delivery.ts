import type { ColumnDefinitionBuilder, CreateTableBuilder, Kysely } from 'kysely'
import type { ColumnTypes, ControlMigration } from '../migrate.ts'

/** Channels and their lanes, the queue, what was sent, attempts, dead letters. */
export const deliveryMigration: ControlMigration = {
  name: '0003-delivery',
  async up(db, column) {
    await createLanes(db, column)
    await createQueue(db, column)
    await createEventIds(db)
    await createHistory(db, column)
  },
}

async function createLanes(db: Kysely<unknown>, column: ColumnTypes): Promise<void> {
  const lanes = db.schema
    .createTable('webhook_lane')
    .addColumn('id', column.id, (c) => countingUp(c, column))
    .addColumn('project_id', 'bigint', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('deleted_at', 'bigint')
    .addColumn('url', 'text')
    .addColumn('headers', 'text', (c) => c.notNull())
    .addColumn('secret', 'text')
    .addColumn('disabled_reason', 'text')
    .addColumn('failing_since_at', 'bigint')
    .addColumn('batch_limit', 'bigint')
    .addColumn('owner', 'text')
    .addUniqueConstraint('webhook_lane_name', ['project_id', 'name'])
  await withIntegers(lanes, [
    'created_at',
    'max_batch_messages',
    'max_batch_bytes',
    'backoff_initial_ms',
    'backoff_cap_ms',
    'dead_letter_age_ms',
    'dead_letter_attempts',
    'is_paused',
    'ages_from_at',
    'failures',
    'refusals',
    'next_attempt_at',
    'cursor_seq',
    'served_at',
    'epoch',
    'lease_until_at',
  ]).execute()
  await withIntegers(
    db.schema.createTable('webhook_lane_sequence').addColumn('lane_id', 'bigint', (c) => c.primaryKey()),
    ['next_seq', 'next_chunk'],
  ).execute()
}

async function createQueue(db: Kysely<unknown>, column: ColumnTypes): Promise<void> {
  await withIntegers(db.schema.createTable('webhook_message'), [
    'lane_id',
    'seq',
    'event_id',
    'version',
    'block_number',
    'body_bytes',
    'enqueued_at',
    'tries',
  ])
    .addColumn('chain', 'text', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .addColumn('body', column.bytes, (c) => c.notNull())
    .addColumn('shelved_until_at', 'bigint')
    .addPrimaryKeyConstraint('webhook_message_key', ['lane_id', 'seq'])
    .addUniqueConstraint('webhook_message_event', ['lane_id', 'event_id'])
    .execute()
  await db.schema
    .createIndex('webhook_message_block')
    .on('webhook_message')
    .columns(['lane_id', 'chain', 'block_number'])
    .execute()
  await db.schema
    .createIndex('webhook_message_shelf')
    .on('webhook_message')
    .columns(['lane_id', 'shelved_until_at'])
    .where('shelved_until_at' as never, 'is not', null)
    .execute()
  await withIntegers(db.schema.createTable('webhook_sent'), [
    'lane_id',
    'event_id',
    'seq',
    'version',
    'sent_at',
  ])
    .addColumn('hash', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('webhook_sent_key', ['lane_id', 'event_id'])
    .execute()
  await index(db, 'webhook_sent', ['sent_at'])
}

async function createEventIds(db: Kysely<unknown>): Promise<void> {
  await withIntegers(db.schema.createTable('webhook_event_id'), [
    'lane_id',
    'block_number',
    'block_chunk',
    'id_chunk',
  ])
    .addColumn('chain', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('webhook_event_id_key', ['lane_id', 'chain', 'block_number', 'block_chunk'])
    .execute()
  await withIntegers(db.schema.createTable('webhook_arrival'), [
    'lane_id',
    'version',
    'block_number',
    'next_position',
  ])
    .addColumn('chain', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('webhook_arrival_key', ['lane_id', 'version', 'chain', 'block_number'])
    .execute()
}

async function createHistory(db: Kysely<unknown>, column: ColumnTypes): Promise<void> {
  await withIntegers(
    db.schema.createTable('webhook_attempt').addColumn('id', column.id, (c) => countingUp(c, column)),
    ['lane_id', 'started_at', 'duration_ms', 'messages', 'bytes', 'first_event_id', 'last_event_id'],
  )
    .addColumn('webhook_id', 'text', (c) => c.notNull())
    .addColumn('outcome', 'text', (c) => c.notNull())
    .addColumn('status', 'integer')
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('answer', column.bytes, (c) => c.notNull())
    .execute()
  await index(db, 'webhook_attempt', ['lane_id', 'id'])
  await index(db, 'webhook_attempt', ['started_at'])
  await withIntegers(
    db.schema.createTable('webhook_dead_letter').addColumn('id', column.id, (c) => countingUp(c, column)),
    ['project_id', 'lane_id', 'died_at', 'attempts', 'last_pulled_at'],
  )
    .addColumn('last_status', 'integer')
    .addColumn('last_error', 'text', (c) => c.notNull())
    .execute()
  await index(db, 'webhook_dead_letter', ['project_id', 'last_pulled_at', 'died_at'])
  await index(db, 'webhook_dead_letter', ['died_at'])
  await withIntegers(db.schema.createTable('webhook_dead_message'), [
    'letter_id',
    'lane_id',
    'seq',
    'event_id',
    'version',
    'block_number',
    'is_superseded',
  ])
    .addColumn('chain', 'text', (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .addColumn('body', column.bytes, (c) => c.notNull())
    .addPrimaryKeyConstraint('webhook_dead_message_key', ['letter_id', 'seq'])
    .execute()
  await index(db, 'webhook_dead_message', ['lane_id', 'event_id'])
}

/** SQLite gives the id of a deleted last row out again unless told not to; PostgreSQL's sequences never do. */
function countingUp(id: ColumnDefinitionBuilder, column: ColumnTypes): ColumnDefinitionBuilder {
  return column.id === 'integer' ? id.primaryKey().autoIncrement() : id.primaryKey()
}

function withIntegers<T extends string, C extends string>(
  table: CreateTableBuilder<T, C>,
  names: readonly string[],
): CreateTableBuilder<T, string> {
  let wider = table as unknown as CreateTableBuilder<T, string>
  for (const name of names) wider = wider.addColumn(name, 'bigint', (c) => c.notNull())
  return wider
}

async function index(db: Kysely<unknown>, table: string, columns: string[]): Promise<void> {
  await db.schema
    .createIndex(`${table}_by_${columns.join('_')}`)
    .on(table)
    .columns(columns)
    .execute()
}
