import type { Pool } from 'pg'

/** Statements that the server has run, those inside of functions not counted. */
export async function countStatements(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ calls: number }>(
    'select coalesce(sum(calls), 0)::float8 as calls from pg_stat_statements',
  )
  return rows[0]?.calls ?? 0
}
