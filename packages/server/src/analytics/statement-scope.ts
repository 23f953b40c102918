import type { AnswerScope } from '../cache/cache-policy.ts'
import { nodesOf, type SyntaxNode } from './syntax-tree.ts'

/** What decides the answer of a statement besides its parameters. */
export interface StatementScope {
  /** Names of all tables that it may read, and some that it does not; null when they cannot be told. */
  readonly tables: readonly string[] | null
  /** False when the same data can give another answer: it asks for the time, or for chance. */
  readonly isRepeatable: boolean
}

/** The scope of a statement about the tables themselves. */
export const CATALOGUE_SCOPE: StatementScope = { tables: null, isRepeatable: true }

/** Functions whose value changes from one moment to the next. */
const FLEETING =
  /^(now|today|yesterday|current|curdate|utc|rand|generate(random|uuid|ulid|snowflake)|fuzz|.*random|nondeterministic|rownumberin|block(number|size)|connection|uptime|timezone)/i
/** A longer name of an event log or metric is shortened where users see it, so it is no longer the name of the data. */
const NAME_CHARACTERS_MAX = 130

/** Reads from the syntax tree what the statement depends on. Any identifier may name a table on the right of IN. */
export function scopeOfStatement(root: SyntaxNode): StatementScope {
  const tables = new Set<string>()
  let isRepeatable = true
  for (const { kind, text } of nodesOf(root)) {
    if (kind === 'TableIdentifier' || kind === 'Identifier') tables.add(text.split(' ')[0] ?? text)
    if (kind === 'Function' && FLEETING.test(text)) isRepeatable = false
    if (kind === 'SampleRatio') isRepeatable = false
  }
  const names = [...tables]
  const isTold = names.every((name) => name.length < NAME_CHARACTERS_MAX && /^[\w.]+$/.test(name))
  return { tables: isTold ? names : null, isRepeatable }
}

/** What the cache has to know: all times of the tables. An answer that is not repeatable has its own time as its signature. */
export function answerScope({ tables, isRepeatable }: StatementScope, nowMs: number): AnswerScope {
  return {
    coverage: { names: tables, fromMicros: null, toMicros: null },
    signature: isRepeatable ? '' : String(nowMs),
  }
}
