import { sql } from 'kysely'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { hasRowLocks } from './lane-store-locks.ts'

/**
 * Runs a transaction whose commit does not wait for the disk on SQLite: a crash of the process cannot undo it, a power failure
 * may, together with all that came after it and was not waited for either. For what costs no more than a repetition then,
 * such as a lease or an acknowledgement: commits block the event loop, and they are the ones that come hundreds of times a
 * second. On PostgreSQL, where the server may crash while a worker lives on, it is like any other.
 */
export function unsyncedTransaction<T>(
  db: ControlDatabase,
  run: (tx: ControlTransaction) => Promise<T>,
): Promise<T> {
  if (hasRowLocks(db)) return db.transaction().execute(run)
  return db.connection().execute(async (connection) => {
    await sql`pragma synchronous = normal`.execute(connection)
    try {
      return await connection.transaction().execute(run)
    } finally {
      await sql`pragma synchronous = full`.execute(connection)
    }
  })
}
