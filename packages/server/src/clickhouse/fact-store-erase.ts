import type { FactRollback } from '../ingest/fact-store.ts'
import type { FactEngine } from './fact-engine.ts'
import { batchColumn } from './fact-store-schema.ts'
import { quoteIdentifier, quoteString } from './layout.ts'

const ERASE_TIMEOUT_MS = 600_000

/**
 * Removes rows of a table; resolves when no query sees them any more. A delete touches every part of the table, so
 * tables without such rows are left alone.
 */
export async function eraseWhere(
  engine: FactEngine,
  database: string,
  table: string,
  condition: string,
): Promise<void> {
  const target = `${quoteIdentifier(database)}.${quoteIdentifier(table)}`
  const found = await engine.rows(`select 1 from ${target} where ${condition} limit 1`)
  if (found.length === 0) return
  await engine.command(`delete from ${target} where ${condition}`, { timeoutMs: ERASE_TIMEOUT_MS })
}

/** The rows that a rollback removes (IN-3). */
export function rollbackCondition(
  table: string,
  { chain, aboveBlock, beforeSequence }: FactRollback,
): string {
  return `chain = ${quoteString(chain)} and block_number > ${aboveBlock} and ${batchColumn(table)} < ${beforeSequence}`
}
