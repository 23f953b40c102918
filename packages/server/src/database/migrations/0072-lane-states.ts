import { sql, type Kysely } from 'kysely'
import type { ControlMigration } from '../migrate.ts'

/** What a lane's owner changes with every request: narrow rows, apart from the channel, which changes when somebody edits it. */
const STATE = [
  'cursor_seq',
  'failures',
  'failing_since_at',
  'refusals',
  'batch_limit',
  'next_attempt_at',
  'served_at',
  'owner',
  'lease_until_at',
] as const

const OPTIONAL: ReadonlySet<string> = new Set(['failing_since_at', 'batch_limit', 'owner'])

/**
 * The states of lanes, by a key that each claim raises: PostgreSQL then finds the newest version of a row first, however many older ones it
 * has to keep for somebody's snapshot.
 */
export const laneStatesMigration: ControlMigration = {
  name: '0072-lane-states',
  async up(db) {
    let table = db.schema
      .createTable('webhook_lane_state')
      .addColumn('lane_id', 'bigint', (c) => c.notNull())
      .addColumn('epoch', 'bigint', (c) => c.notNull())
    for (const name of STATE) {
      table = table.addColumn(name, name === 'owner' ? 'text' : 'bigint', (c) =>
        OPTIONAL.has(name) ? c : c.notNull(),
      )
    }
    await table.addPrimaryKeyConstraint('webhook_lane_state_key', ['lane_id', 'epoch']).execute()
    await moveStates(db)
  },
}

async function moveStates(db: Kysely<unknown>): Promise<void> {
  const columns = sql.join(STATE.map((name) => sql.ref(name)))
  await sql`
    insert into webhook_lane_state (lane_id, epoch, ${columns}) select id, epoch, ${columns} from webhook_lane`.execute(
    db,
  )
  for (const name of [...STATE, 'epoch']) {
    await db.schema.alterTable('webhook_lane').dropColumn(name).execute()
  }
}
