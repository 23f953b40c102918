import type { FactRollback } from '../ingest/fact-store.ts'
import type { FactEngine } from './fact-engine.ts'
import { batchColumn } from './fact-store-schema.ts'
import { quoteIdentifier, quoteString } from './layout.ts'

const ERASE_TIMEOUT_MS = 600_000

/** In more partitions than these, one delete over all parts costs less than one a partition. */
const MAX_SINGLE_PARTITIONS = 3
/** Tables that rows are removed from at the same time: a delete waits more than it works. */
const TABLES_AT_ONCE = 3

/** Removes rows from several tables. Resolves when no query sees any of them. */
export async function eraseFrom(
  engine: FactEngine,
  database: string,
  tables: readonly string[],
  conditionOf: (table: string) => string,
): Promise<void> {
  const rest = tables.values()
  const eraser = async (): Promise<void> => {
    for (const table of rest) await eraseWhere(engine, database, table, conditionOf(table))
  }
  await Promise.all(Array.from({ length: TABLES_AT_ONCE }, eraser))
}

/**
 * Removes rows of a table; resolves when no query sees them any more. A delete touches every part of the partitions it
 * is for, so it is for those that have such rows: of a reorganisation that is the present month, not the years before. From the first of
 * them on, as the engine finds times by the key and blocks by reading all.
 */
async function eraseWhere(
  engine: FactEngine,
  database: string,
  table: string,
  condition: string,
): Promise<void> {
  const target = `${quoteIdentifier(database)}.${quoteIdentifier(table)}`
  const time = table.startsWith('entity_') ? '`$timestamp`' : 'timestamp'
  const found = await engine.rows<{ id: string; from: string }>(
    `select _partition_id as id, ${earliestOf(time)} as from from ${target} where ${condition} group by id`,
  )
  if (found.length === 0) return
  const partitions =
    found.length > MAX_SINGLE_PARTITIONS
      ? [{ clause: '', bound: '' }]
      : found.map(({ id, from }) => ({
          clause: ` in partition id ${quoteString(id)}`,
          bound: from === '' ? '' : ` and ${time} >= ${quoteString(from)}`,
        }))
  for (const { clause, bound } of partitions) {
    await engine.command(`delete from ${target}${clause} where ${condition}${bound}`, {
      timeoutMs: ERASE_TIMEOUT_MS,
    })
  }
}

/** The earliest of times; empty where the sort key of samples, which holds 32-bit days, is wrong for some of them. */
function earliestOf(time: string): string {
  return `if(min(${time}) >= '1970-01-03' and max(${time}) < '2105-01-01', toString(min(${time})), '')`
}

/** The rows that a rollback removes (IN-3). */
export function rollbackCondition(
  table: string,
  { chain, aboveBlock, beforeSequence }: FactRollback,
): string {
  const [ofChain, block] = table.startsWith('entity_')
    ? ['`$chain`', '`$block_number`']
    : ['chain', 'block_number']
  return `${ofChain} = ${quoteString(chain)} and ${block} > ${aboveBlock} and ${batchColumn(table)} < ${beforeSequence}`
}
