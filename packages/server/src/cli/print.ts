/** Prints a line to standard output, where a command's answer goes. */
export function printLine(text = ''): void {
  process.stdout.write(`${text}\n`)
}

/** A number with what it counts, e.g. `1 letter` or `2 letters`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Prints what was probably not meant so to standard error, beside an answer that goes elsewhere. */
export function printWarnings(warnings: Iterable<string> = []): void {
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`)
}

/** Prints a value as indented JSON. */
export function printJson(value: unknown): void {
  printLine(JSON.stringify(value, null, 2))
}

/** Prints the members of a value, those of its members too, a line each. */
export function printFacts(value: object): void {
  const facts = Object.entries(value).flatMap(factsOf)
  const width = Math.max(...facts.map(([name]) => name.length))
  for (const [name, fact] of facts) {
    printLine(`${name.padEnd(width)}  ${cellOf(fact, MOST_PARAGRAPH_WIDTH)}`.trimEnd())
  }
}

function factsOf([name, value]: readonly [string, unknown]): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, value]]
  const members = Object.entries(value)
  return members.length === 0 ? [[name, null]] : members.map(([member, each]) => [`${name}.${member}`, each])
}

/** Prints rows as a table, or each as a paragraph where the terminal is too narrow for the table. */
export function printTable(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
): void {
  printLine(formatRows(columns, rows, process.stdout.isTTY ? process.stdout.columns : Infinity))
}

/** `formatTable`, or `formatParagraphs` where that is wider than so many characters. */
export function formatRows(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
  width: number,
): string {
  const table = formatTable(columns, rows)
  const isFitting = rows.length === 0 || table.split('\n').every((line) => line.length <= width)
  return isFitting ? table : formatParagraphs(columns, rows)
}

const MOST_WIDTH = 60
const MOST_PARAGRAPH_WIDTH = 1000

/** A line a column, so that a terminal that wraps long values keeps them readable; rows are numbered. */
function formatParagraphs(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
): string {
  const width = Math.max(...columns.map((column) => column.length))
  return rows
    .map((row, index) =>
      [
        `─[ ${index + 1} ]─`,
        ...columns.map((column) =>
          `${column.padEnd(width)}  ${cellOf(row[column], MOST_PARAGRAPH_WIDTH)}`.trimEnd(),
        ),
      ].join('\n'),
    )
    .join('\n')
}

/** Rows as a table with a heading; numbers to the right, long cells cut. */
export function formatTable(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
): string {
  const cells = rows.map((row) => columns.map((column) => cellOf(row[column], MOST_WIDTH)))
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

function cellOf(value: unknown, mostLength: number): string {
  if (value === null || value === undefined) return ''
  const text = printable(typeof value === 'string' ? value : JSON.stringify(value))
  return text.length > mostLength ? `${text.slice(0, mostLength - 1)}…` : text
}

/**
 * Text for a person, in one line. Data is written by strangers; control characters could rewrite the terminal, and marks of direction what is
 * read.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu, ' ')
}
