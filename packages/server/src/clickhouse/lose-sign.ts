import type { FactEngine } from './fact-engine.ts'
import { ATTRIBUTE_COLUMN_TYPES, quoteIdentifier, quoteString } from './layout.ts'
import { awaitRunningInserts } from './running-inserts.ts'

const REWRITE_TIMEOUT_MS = 600_000
/** Clean names of attributes have no `$` and no back-tick (IN-5). */
const CONSTRAINT_PREFIX = '$unsigned_'
const CONSTRAINT = /CONSTRAINT `\$unsigned_([^`]+)`/g

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
  const constraint = quoteIdentifier(`${CONSTRAINT_PREFIX}${column.attribute}`)
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

/**
 * Ends what an interruption left of `loseSign`: a constraint that would refuse negative integers for ever. Every step is taken again, not
 * just the constraint away, since another instance may be at it at this moment; where negative integers are there, the column keeps its sign.
 */
export async function endSignLosses(engine: FactEngine, facts: string): Promise<void> {
  const tables = await engine.rows<{ name: string; definition: string }>(
    `select name, create_table_query as definition from system.tables
     where database = {facts:String} and position(create_table_query, {prefix:String}) > 0`,
    { parameters: { facts, prefix: CONSTRAINT_PREFIX } },
  )
  for (const { name: table, definition } of tables) {
    for (const [, attribute = ''] of definition.matchAll(CONSTRAINT)) {
      await loseSign(engine, facts, { table, attribute })
    }
  }
}
