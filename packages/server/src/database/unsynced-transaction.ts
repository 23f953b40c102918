import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { hasRowLocks } from './lane-store-locks.ts'
import { embeddedAdapterOf } from './sqlite-adapter.ts'
import { unlessGivenUp } from './transaction.ts'

/**
 * Runs a transaction whose commit does not wait for the disk: a failure of power may undo it, and on PostgreSQL a crash of the
 * server, together with all that came after it and was not waited for either; so whatever is durable has what came before
 * it. For what costs no more than a repetition then, such as an acknowledgement: each wait for the disk is a lane that waits.
 */
export function unsyncedTransaction<T>(
  db: ControlDatabase,
  run: (tx: ControlTransaction) => Promise<T>,
): Promise<T> {
  if (hasRowLocks(db)) return unlessGivenUp(() => runUnsynced(db, run))
  return db.transaction().execute(async (tx) => {
    embeddedAdapterOf(tx)?.driver.doNotWaitForDisk()
    return run(tx)
  })
}

function runUnsynced<T>(db: ControlDatabase, run: (tx: ControlTransaction) => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    // Begun by hand, so that it costs no way to the server of its own.
    await sql`begin; set local synchronous_commit = off`.execute(connection)
    try {
      const result = await run(connection as ControlTransaction)
      await sql`commit`.execute(connection)
      return result
    } catch (error) {
      await sql`rollback`.execute(connection).catch(() => undefined)
      throw error
    }
  })
}

/**
 * A condition that holds, for a statement on PostgreSQL that is a transaction by itself: it then does not wait for the disk either. As for
 * {@link unsyncedTransaction}, without two more ways to the server.
 */
export const WITHOUT_WAITING: RawBuilder<SqlBool> = sql`
  (select set_config('synchronous_commit', 'off', true)) is not null`
