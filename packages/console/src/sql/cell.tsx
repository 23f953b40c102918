import type { Row } from '../api/sql.ts'

/** A value in a grid; null is told from the word. */
export function Cell({ value }: { readonly value: unknown }) {
  if (value === null || value === undefined) return <span className="nil">null</span>
  return <>{cellText(value)}</>
}

/** A value as one line of text. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Rows as text that pastes into a spreadsheet: cells apart by tabs, names first. */
export function rowsAsText(columns: readonly string[], rows: readonly Row[]): string {
  const lines = rows.map((row) => columns.map((name) => oneLine(cellText(row[name]))).join('\t'))
  return [columns.map(oneLine).join('\t'), ...lines].join('\n')
}

function oneLine(text: string): string {
  return text.replaceAll(/[\t\r\n]+/g, ' ')
}
