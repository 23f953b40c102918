/** Rows per statement: well below the 32 766 parameters of SQLite and the 65 535 of PostgreSQL. */
const SLICE_ROWS = 500

/** An array in parts that fit into one statement each. */
export function* slicesOf<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < rows.length; start += SLICE_ROWS) yield rows.slice(start, start + SLICE_ROWS)
}
