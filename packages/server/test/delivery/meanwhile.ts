import { sql } from 'kysely'
import type { ControlDatabase, ControlTransaction } from '../../src/database/database.ts'

/**
 * Runs what comes to wait for what `change` has locked, until the transaction of `change` is over; `whileWaiting` is the rest of that. On
 * PostgreSQL.
 */
export async function meanwhile(
  db: ControlDatabase,
  change: (tx: ControlTransaction) => Promise<unknown>,
  run: () => Promise<unknown>,
  whileWaiting: (tx: ControlTransaction) => Promise<unknown> = () => Promise.resolve(),
): Promise<unknown> {
  let running: Promise<unknown> = Promise.reject(new Error('nothing ran'))
  running.catch(() => undefined)
  await db.transaction().execute(async (tx) => {
    await change(tx)
    running = run()
    running.catch(() => undefined)
    await somebodyWaits(db)
    await whileWaiting(tx)
  })
  return running
}

/** Resolves when a statement waits for what a transaction has locked. */
async function somebodyWaits(db: ControlDatabase): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      db,
    )
    if (rows.length > 0) return
  }
}
