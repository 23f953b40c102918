import { awaitRunningInserts } from './fact-store-erase.ts'
import { hasSign } from './attribute-growth.ts'
import type { FactEngine } from './fact-engine.ts'
import { ATTRIBUTE_COLUMN_TYPES, quoteIdentifier, quoteString } from './layout.ts'

const REWRITE_TIMEOUT_MS = 600_000

interface Column {
  readonly table: string
  readonly attribute: string
  /** The event log or entity that it belongs to. */
  readonly name: string
}

/**
 * Turns a column of Int256 into one of UInt256, which holds what ERC-20 calls an unlimited approval (IN-6). Throws `invalid_argument` when it
 * holds a negative integer. Other instances may insert meanwhile: a constraint keeps negative integers out while the column is looked through
 * and rewritten, since the rewriting would turn them into others without a word.
 */
export async function loseSign(engine: FactEngine, facts: string, column: Column): Promise<void> {
  const table = `${quoteIdentifier(facts)}.${quoteIdentifier(column.table)}`
  const attribute = quoteIdentifier(column.attribute)
  const constraint = quoteIdentifier(`$unsigned_${column.attribute}`)
  await engine.command(
    `alter table ${table} add constraint if not exists ${constraint} check ${attribute} is null or ${attribute} >= 0`,
  )
  await awaitRunningInserts(engine, facts)
  const negative = await engine.rows(`select 1 from ${table} where ${attribute} < 0 limit 1`)
  if (negative.length === 0) {
    await engine.command(
      `alter table ${table} modify column ${attribute} ${ATTRIBUTE_COLUMN_TYPES.uint} comment ${quoteString('uint')} codec(ZSTD(1))`,
      { timeoutMs: REWRITE_TIMEOUT_MS },
    )
  }
  await engine.command(`alter table ${table} drop constraint if exists ${constraint}`)
  if (negative.length > 0) throw hasSign(column.name, column.attribute)
}
