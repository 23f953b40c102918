/** Prints a line to standard output, where a command's answer goes. */
export function printLine(text = ''): void {
  process.stdout.write(`${text}\n`)
}

/** Prints a value as indented JSON. */
export function printJson(value: unknown): void {
  printLine(JSON.stringify(value, null, 2))
}

const MOST_WIDTH = 60

/** Rows as a table with a heading; numbers to the right, long cells cut. */
export function formatTable(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
): string {
  const cells = rows.map((row) => columns.map((column) => cellOf(row[column])))
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...cells.map((row) => row[index]?.length ?? 0)),
  )
  const isRight = columns.map(
    (column) => rows.length > 0 && rows.every((row) => typeof row[column] === 'number'),
  )
  const formatLine = (line: readonly string[]) =>
    line
      .map((cell, index) => {
        const width = widths[index] ?? 0
        return isRight[index] === true ? cell.padStart(width) : cell.padEnd(width)
      })
      .join('  ')
      .trimEnd()
  return [
    formatLine(columns),
    formatLine(widths.map((width) => '─'.repeat(width))),
    ...cells.map(formatLine),
  ].join('\n')
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // Data is written by strangers; control characters could rewrite the terminal.
  const printable = text.replaceAll(/\p{Cc}/gu, ' ')
  return printable.length > MOST_WIDTH ? `${printable.slice(0, MOST_WIDTH - 1)}…` : printable
}
