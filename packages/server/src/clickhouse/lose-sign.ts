import { awaitRunningInserts } from './fact-store-erase.ts'
import type { FactEngine } from './fact-engine.ts'
import { ATTRIBUTE_COLUMN_TYPES, quoteIdentifier, quoteString } from './layout.ts'

const REWRITE_TIMEOUT_MS = 600_000

interface Column {
  readonly table: string
  readonly attribute: string
}

/**
 * Turns a column of Int256 into one of UInt256, which holds what ERC-20 calls an unlimited approval (IN-6). False when it
 * holds a negative integer, and stays. Other instances may insert meanwhile: a constraint keeps negative integers out while the column is looked through
 * and rewritten, since the rewriting would turn them into others without a word.
 */
export async function loseSign(engine: FactEngine, facts: string, column: Column): Promise<boolean> {
  const table = `${quoteIdentifier(facts)}.${quoteIdentifier(column.table)}`
  const attribute = quoteIdentifier(column.attribute)
  const constraint = quoteIdentifier(`$unsigned_${column.attribute}`)
  await engine.command(
    `alter table ${table} add constraint if not exists ${constraint} check ${attribute} is null or ${attribute} >= 0`,
  )
  await awaitRunningInserts(engine, facts)
  const isNegative = await holdsNegative(engine, facts, column)
  if (!isNegative) {
    await engine.command(
      `alter table ${table} modify column ${attribute} ${ATTRIBUTE_COLUMN_TYPES.uint} comment ${quoteString('uint')} codec(ZSTD(1))`,
      { timeoutMs: REWRITE_TIMEOUT_MS },
    )
  }
  await engine.command(`alter table ${table} drop constraint if exists ${constraint}`)
  return !isNegative
}

/** Is there a negative integer in a column? */
export async function holdsNegative(engine: FactEngine, facts: string, column: Column): Promise<boolean> {
  const table = `${quoteIdentifier(facts)}.${quoteIdentifier(column.table)}`
  const negative = await engine.rows(
    `select 1 from ${table} where ${quoteIdentifier(column.attribute)} < 0 limit 1`,
  )
  return negative.length > 0
}
