import { asArray, elementText, type EntityFilter } from './entity-filter.ts'
import { plainJson } from './encode.ts'
import { isDecimalLike } from './exact-decimal.ts'

/** A condition as SQL, and the values of its parameters. */
export interface Condition {
  readonly sql: string
  readonly parameters: readonly (readonly [string, unknown])[]
}

const NEGATIVE: ReadonlySet<EntityFilter['op']> = new Set(['!=', 'not in', 'not like'])

/**
 * A filter as SQL over a column of `columnType`, undefined where there is no such column: then every value is absent.
 * Each operand is a parameter of its own: lists of wide integers cannot be one.
 */
export function conditionOf(
  { field, op, value }: EntityFilter,
  index: number,
  columnType: string | undefined,
): Condition {
  const isNull = value === null && (op === '=' || op === '!=')
  if (columnType === undefined) {
    return { sql: (isNull ? op === '=' : NEGATIVE.has(op)) ? 'true' : 'false', parameters: [] }
  }
  const column = quoteName(field)
  if (isNull) return { sql: `${column} is ${op === '=' ? '' : 'not '}null`, parameters: [] }
  const type = columnType.replace(/^Nullable\((.*)\)$/, '$1')
  const isOfElements = op === 'has all' || op === 'has any'
  const takesArray = isOfElements || op === 'in' || op === 'not in'
  const operands = (takesArray ? asArray(value) : [value]).map((each) =>
    isOfElements ? elementText(each) : operandOf(each),
  )
  const parameters = operands.map((operand, i) => [`v${index}_${i}`, operand] as const)
  const names = parameters.map(([name, operand]) => {
    const isFraction = type.includes('Int') && !/^-?\d+$/.test(String(operand))
    return `{${name}:${isOfElements ? 'String' : isFraction ? 'Float64' : type}}`
  })
  return { sql: comparison(column, op, names), parameters }
}

function comparison(column: string, op: EntityFilter['op'], names: readonly string[]): string {
  const [first = 'null'] = names
  const isEmpty = names.length === 0
  const list = names.join(', ')
  switch (op) {
    case 'in':
      return isEmpty ? 'false' : `${column} in (${list})`
    case 'not in':
      return isEmpty ? 'true' : `(${column} not in (${list}) or ${column} is null)`
    case 'has all':
      return `hasAll(JSONExtractArrayRaw(ifNull(${column}, '')), [${list}])`
    case 'has any':
      return isEmpty ? 'false' : `hasAny(JSONExtractArrayRaw(ifNull(${column}, '')), [${list}])`
    case '!=':
    case 'not like':
      return `(${column} ${op} ${first} or ${column} is null)`
    default:
      return `${column} ${op} ${first}`
  }
}

function operandOf(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (isDecimalLike(value)) return value.toFixed()
  if (value instanceof Date) return value.toISOString().replace('T', ' ').replace('Z', '')
  return typeof value === 'object' && value !== null ? plainJson(value) : value
}

/** A name in back-ticks. */
export function quoteName(name: string): string {
  return `\`${name.replace(/[\\`]/g, '\\$&')}\``
}
