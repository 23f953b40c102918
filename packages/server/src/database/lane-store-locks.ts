import { PostgresAdapter, type SelectQueryBuilder } from 'kysely'
import type { ControlDatabase, ControlTransaction } from './database.ts'

/**
 * Locks the rows a query reads until the transaction ends, in the order of the query; on PostgreSQL only, as SQLite
 * has a single writer anyway.
 *
 * Nobody waits in a circle, as everybody locks in this order: chain heads by chain; channels and then their states; counters of lanes by
 * id; of each lane its messages by `seq`, then what is remembered of sent ones by event id; dead letters by id.
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
