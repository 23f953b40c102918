import { PostgresAdapter, type SelectQueryBuilder } from 'kysely'
import type { ControlDatabase, ControlTransaction } from './database.ts'

/**
 * Locks the rows a query reads until the transaction ends, in the order of the query; on PostgreSQL only, as SQLite
 * has a single writer anyway. Everybody who changes messages locks them in order of `seq`, so nobody waits in a circle.
 */
export function lockingRows<DB, TB extends keyof DB, O>(
  db: ControlDatabase | ControlTransaction,
  query: SelectQueryBuilder<DB, TB, O>,
): SelectQueryBuilder<DB, TB, O> {
  return hasRowLocks(db) ? query.forUpdate() : query
}

/**
 * Like {@link lockingRows}, but of one table, and leaves out rows that somebody else has locked: two who do the same never wait for each
 * other.
 */
export function claimingRows<DB, TB extends keyof DB, O>(
  db: ControlDatabase | ControlTransaction,
  table: TB & string,
  query: SelectQueryBuilder<DB, TB, O>,
): SelectQueryBuilder<DB, TB, O> {
  return hasRowLocks(db) ? query.forUpdate(table).skipLocked() : query
}

/** True on PostgreSQL; SQLite has a single writer. */
export function hasRowLocks(db: ControlDatabase | ControlTransaction): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}
