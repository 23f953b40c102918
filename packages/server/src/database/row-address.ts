import { sql, type RawBuilder } from 'kysely'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { hasRowLocks } from './lane-store-locks.ts'

/** Where a row lies: PostgreSQL's `ctid`, or SQLite's `rowid`. On PostgreSQL each change of the row gives it another. */
export type RowAddress = string | number

/**
 * The column with the {@link RowAddress} of each row of a table. By it a statement changes rows that were found before, because a join by the
 * key leaves PostgreSQL's planner a choice: where it believes in few rows it reads a whole index instead of looking each up, and with it all
 * versions that rows had before. An address can only be looked up. A row that somebody else changes meanwhile may or may not be found by it
 * then, depending on the release: where it has to be, it is to be found by its key.
 */
export function rowAddress(db: ControlDatabase | ControlTransaction, table: string): RawBuilder<RowAddress> {
  return sql`${sql.ref(table)}.${sql.raw(hasRowLocks(db) ? 'ctid' : 'rowid')}`
}
