import { encodeScalar, type Attributes } from './encode.ts'

/** The state of an entity as it comes back from the service: bigints, numbers, booleans, texts and Dates; decimals and nested values as text. */
export type EntityRow = Readonly<Record<string, unknown>> & { readonly id: string }

/** A condition on a field of an entity. `in` takes an array. */
export interface EntityFilter {
  readonly field: string
  readonly op: '=' | '!=' | '<' | '<=' | '>' | '>=' | 'in'
  readonly value: unknown
}

/** A state as it will come back once it is stored, so that handlers see one form whether or not it is. */
export function storedForm(id: string, attributes: Attributes): EntityRow {
  const row: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) row[name] = storedValue(value)
  }
  return { ...row, id }
}

function storedValue(value: unknown): unknown {
  if (typeof value === 'bigint' || value instanceof Date) return value
  const encoded = encodeScalar(value)
  if (typeof encoded !== 'object' || encoded === null) return encoded
  return '$decimal' in encoded ? encoded.$decimal : JSON.stringify(encoded)
}

/** A value of a SQL answer by the type of its column. */
export function fromColumn(value: unknown, type: string): unknown {
  if (value === null || value === undefined) return undefined
  if (/U?Int(64|128|256)/.test(type)) return BigInt(value as string | number)
  if (type.includes('DateTime')) return new Date(value as string)
  if (type.includes('Decimal')) return `${value as string | number}`
  return value
}

/** Whether a state meets all conditions. An absent value meets none but `!=`. */
export function meets(row: EntityRow, filters: readonly EntityFilter[]): boolean {
  return filters.every(({ field, op, value }) => {
    const own = row[field]
    if (op === 'in') return (value as readonly unknown[]).some((one) => isEqual(own, one))
    if (op === '=' || op === '!=') return isEqual(own, value) === (op === '=')
    if (own === undefined) return false
    const [left, right] = [own as number, value as number]
    if (op === '<') return left < right
    if (op === '<=') return left <= right
    return op === '>' ? left > right : left >= right
  })
}

function isEqual(left: unknown, right: unknown): boolean {
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime()
  // A bigint and a number of the same value are equal here.
  // oxlint-disable-next-line eqeqeq
  return typeof left === typeof right ? left === right : left !== undefined && left == right
}
