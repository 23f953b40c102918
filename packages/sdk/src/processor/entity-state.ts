import { encodeScalar, plainJson, type Attributes } from './encode.ts'

/** The state of an entity as it comes back from the service: bigints, numbers, booleans, texts and Dates; decimals and nested values as text. */
export type EntityRow = Readonly<Record<string, unknown>> & { readonly id: string }

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
  return '$decimal' in encoded ? encoded.$decimal : plainJson(encoded)
}

/** A value of a SQL answer by the type of its column. */
export function fromColumn(value: unknown, type: string): unknown {
  if (value === null || value === undefined) return undefined
  if (/U?Int(64|128|256)/.test(type)) return BigInt(value as string | number)
  if (type.includes('DateTime')) return new Date(value as string)
  if (type.includes('Decimal')) return `${value as string | number}`
  return value
}
