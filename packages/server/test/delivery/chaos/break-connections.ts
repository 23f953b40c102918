import { sql } from 'kysely'
import type { OpenDatabase } from '../../../src/database/database.ts'

/** Ends every other connection to the PostgreSQL database, in the middle of whatever it does. */
export async function breakConnections(db: OpenDatabase['db']): Promise<void> {
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(db)
}
