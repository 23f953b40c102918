import { quoteName, type TableInfo } from '../api/project.ts'
import type { Statement } from '../api/sql.ts'

/** One condition on a column: equal to, or containing a text. */
export interface Condition {
  readonly column: string
  readonly operator: 'is' | 'is not' | 'contains'
  readonly value: string
}

/** The statement for the newest records of a table that fit. Values are bound, never spliced. */
export function recordStatement(
  table: TableInfo,
  conditions: readonly Condition[],
  sought: string,
  size: number,
): Statement {
  const parameters: Record<string, string> = {}
  const bind = (value: string) => {
    const name = `p${Object.keys(parameters).length}`
    parameters[name] = value
    return `{${name}:String}`
  }
  const clauses = conditions
    .filter(({ value }) => value !== '')
    .map(({ column, operator, value }) => {
      const text = `toString(${quoteName(column)})`
      if (operator === 'contains') return `positionCaseInsensitive(${text}, ${bind(value)}) > 0`
      return `${text} ${operator === 'is' ? '=' : '!='} ${bind(value)}`
    })
  if (sought.trim() !== '') {
    const all = table.columns.map(({ name }) => `ifNull(toString(${quoteName(name)}), '')`).join(", ' ', ")
    clauses.push(`positionCaseInsensitive(concat(${all}, ''), ${bind(sought.trim())}) > 0`)
  }
  const order = table.columns.some(({ name }) => name === 'timestamp') ? '\nORDER BY timestamp DESC' : ''
  const where = clauses.length === 0 ? '' : `\nWHERE ${clauses.join('\n  AND ')}`
  return {
    sql: `SELECT *\nFROM ${quoteName(table.name)}${where}${order}`,
    size,
    ...(clauses.length === 0 ? {} : { parameters }),
  }
}
