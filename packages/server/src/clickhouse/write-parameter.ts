const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
}

/**
 * A value for a placeholder as ClickHouse reads it from an address: text escaped as in tab-separated values, lists and maps as literals
 * (https://clickhouse.com/docs/interfaces/http#cli-queries-with-parameters).
 */
export function writeParameter(value: unknown): string {
  if (value === null || value === undefined) return '\\N'
  if (typeof value === 'boolean') return value ? '1' : '0'
  return typeof value === 'string' ? escape(value) : writeLiteral(value)
}

function writeLiteral(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  switch (typeof value) {
    case 'string':
      return `'${escape(value)}'`
    case 'boolean':
      return value ? 'TRUE' : 'FALSE'
    case 'number':
      return writeNumber(value)
    case 'bigint':
      return value.toString()
    default:
      if (Array.isArray(value)) return `[${value.map(writeLiteral).join(',')}]`
      return `{${Object.entries(value)
        .map(([key, each]) => `${writeLiteral(key)}:${writeLiteral(each)}`)
        .join(',')}}`
  }
}

function writeNumber(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'nan' : value > 0 ? '+inf' : '-inf'
}

function escape(text: string): string {
  return text.replaceAll(/[\\'\t\n\r]/g, (character) => ESCAPES[character] ?? character)
}
