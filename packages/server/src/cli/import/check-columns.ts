import { UsageError } from '../usage-error.ts'
import type { Mapping } from './row-to-record.ts'
import type { SourceRow } from './source-row.ts'

/**
 * Refuses options that name a column which a file with a header has not: misspelt, they would be silently without effect. For such files alone,
 * whose rows have all columns.
 */
export function checkColumns(row: SourceRow, { columnOfField, typeOfColumn }: Mapping): void {
  const named = [
    ...Object.entries(columnOfField).map(
      ([field, column]) => [column, `--column ${field}=${column}`] as const,
    ),
    ...Object.entries(typeOfColumn).map(([column, type]) => [column, `--type ${column}=${type}`] as const),
  ]
  for (const [column, option] of named) {
    if (!Object.hasOwn(row, column)) {
      throw new UsageError(
        `${option}: the file has no column ${column}; it has ${Object.keys(row).join(', ')}`,
      )
    }
  }
}
