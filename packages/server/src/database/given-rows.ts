import { sql, type RawBuilder } from 'kysely'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { hasRowLocks } from './lane-store-locks.ts'
import { StandIn, type Given } from './statement.ts'

/** What a column of given rows holds. */
type GivenType = 'bigint' | 'text' | 'tid'

/** Names and types of columns. */
type GivenColumns = Readonly<Record<string, GivenType>>

/** What one of them has, in the order of the columns. */
export type GivenRow = readonly (number | string | null)[]

/**
 * Rows that come with a statement, as a table to select from or join. However many there are, the text of the statement
 * is the same, so it is prepared once and building it costs no time for each row.
 */
export function givenRows(
  db: ControlDatabase | ControlTransaction,
  columns: GivenColumns,
  rows: Given<readonly GivenRow[]>,
): RawBuilder<unknown> {
  const names = Object.keys(columns)
  if (hasRowLocks(db)) {
    const arrays = Object.values(columns).map(
      (type, index) => sql`${parameterOf(rows, (given) => arrayLiteral(given, index))}::${sql.raw(type)}[]`,
    )
    return sql`(select * from unnest(${sql.join(arrays)}) as given(${columnList(names)}))`
  }
  const values = names.map((name, index) => `value ->> ${index} as "${name}"`).join()
  return sql`(select ${sql.raw(values)} from json_each(${parameterOf(rows, (given) => JSON.stringify(given))}))`
}

function parameterOf<T>(rows: Given<readonly GivenRow[]>, make: (rows: readonly GivenRow[]) => T): Given<T> {
  return rows instanceof StandIn ? rows.map(make) : make(rows)
}

/** The same of the ids of lanes, as `lane_id`. */
export function givenLanes(
  db: ControlDatabase | ControlTransaction,
  laneIds: StandIn<readonly number[]>,
): RawBuilder<unknown> {
  return givenRows(
    db,
    { lane_id: 'bigint' },
    laneIds.map((ids) => ids.map((id) => [id])),
  )
}

/** Names of columns, each of ours, as one part of a statement: a reference to each is dearer than running a small statement. */
export function columnList(names: readonly string[]): RawBuilder<unknown> {
  return sql.raw(names.map((name) => `"${name}"`).join())
}

/** A column of rows as PostgreSQL reads an array: numbers, which most are, without the quotes and escapes that the driver would make for each. */
function arrayLiteral(rows: readonly GivenRow[], index: number): string {
  return `{${rows.map((row) => elementOf(row[index] ?? null)).join()}}`
}

const ESCAPED = /["\\]/

function elementOf(value: number | string | null): string {
  if (value === null) return 'null'
  if (typeof value === 'number') return String(value)
  return ESCAPED.test(value) ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : `"${value}"`
}
