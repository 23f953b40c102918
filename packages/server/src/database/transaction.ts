import { DatabaseError } from 'pg'
import type { ControlDatabase, ControlTransaction } from './database.ts'

/**
 * How PostgreSQL gives up a transaction that may be run again: it was chosen to end a circle of transactions that wait for each other, or
 * would not have come out as if it had run alone. https://www.postgresql.org/docs/current/mvcc-serialization-failure-handling.html
 */
const GIVEN_UP: ReadonlySet<string> = new Set(['40P01', '40001'])

const TRIES_MAX = 5

/** Runs a transaction, and again where PostgreSQL gave it up: nothing of it has happened then. So `run` changes nothing but the database. */
export function inTransaction<T>(
  db: ControlDatabase,
  run: (tx: ControlTransaction) => Promise<T>,
): Promise<T> {
  return unlessGivenUp(() => db.transaction().execute(run))
}

/** Runs what is a transaction by itself, and again where PostgreSQL gave it up. */
export async function unlessGivenUp<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run()
    } catch (error) {
      const isGivenUp = error instanceof DatabaseError && GIVEN_UP.has(error.code ?? '')
      if (!isGivenUp || tries === TRIES_MAX) throw error
    }
  }
}
