import { sql, type RawBuilder } from 'kysely'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { hasRowLocks } from './lane-store-locks.ts'

/** What a column of given rows holds. */
type GivenType = 'bigint' | 'text' | 'tid'

/**
 * Rows that come with a statement, as a table to select from or join. However many there are, the text of the statement
 * is the same, so it is prepared once and building it costs no time for each row.
 */
export function givenRows(
  db: ControlDatabase | ControlTransaction,
  columns: Readonly<Record<string, GivenType>>,
  rows: readonly (readonly (number | string | null)[])[],
): RawBuilder<unknown> {
  const names = Object.keys(columns)
  if (hasRowLocks(db)) {
    const arrays = Object.values(columns).map(
      (type, index) => sql`${rows.map((row) => row[index])}::${sql.raw(type)}[]`,
    )
    return sql`(select * from unnest(${sql.join(arrays)}) as given(${sql.join(names.map((name) => sql.ref(name)))}))`
  }
  const values = names.map((name, index) => sql`value ->> ${sql.lit(index)} as ${sql.ref(name)}`)
  return sql`(select ${sql.join(values)} from json_each(${JSON.stringify(rows)}))`
}
