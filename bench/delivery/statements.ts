import { Pool } from 'pg'

/** Asks on a connection of its own, so that it does not wait behind what is counted. */
export interface StatementCounter {
  /** Statements that the server has run, those inside of functions not counted. */
  count(): Promise<number>
  close(): Promise<void>
}

/** Counts the statements of a PostgreSQL that has `pg_stat_statements`. */
export function createStatementCounter(connectionString: string): StatementCounter {
  const pool = new Pool({ connectionString, max: 1 })
  pool.on('error', () => {})
  return {
    async count() {
      const { rows } = await pool.query<{ calls: number }>(
        'select coalesce(sum(calls), 0)::float8 as calls from pg_stat_statements',
      )
      return rows[0]?.calls ?? 0
    },
    close: () => pool.end(),
  }
}
