import { sql } from 'kysely'
import type { ControlDatabase } from '../../src/database/database.ts'

/** Resolves when a statement waits for what a transaction has locked; on PostgreSQL. */
export async function somebodyWaits(db: ControlDatabase): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      db,
    )
    if (rows.length > 0) return
  }
}
