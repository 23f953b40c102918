import { encodeScalar, plainJson, type Attributes } from './encode.ts'
import { decimalOf, isDecimalLike, scaledOf } from './exact-decimal.ts'
import { parseNested } from './parse-nested.ts'

/**
 * The state of an entity as it comes back from the service, each value of the type it was set in, so that it can be set again: bigints, numbers,
 * booleans, texts, Dates, decimals, lists and objects. Inside lists and objects bigints, decimals and Dates are texts.
 */
export type EntityRow = Readonly<Record<string, unknown>> & { readonly id: string }

/** A state as it will come back once it is stored, so that handlers see one form whether or not it is. */
export function storedForm(id: string, attributes: Attributes): EntityRow {
  const row: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(attributes)) {
    const stored = value === undefined ? null : storedValue(value)
    if (stored !== null) row[name] = stored
  }
  return { ...row, id }
}

function storedValue(value: unknown): unknown {
  if (typeof value === 'bigint' || value instanceof Date) return value
  if (isDecimalLike(value)) return exactly(value)
  const encoded = encodeScalar(value)
  return typeof encoded === 'object' && encoded !== null ? parseNested(plainJson(encoded)) : encoded
}

/** A value of a SQL answer by the type of its column, and its comment, which tells JSON from other texts. */
export function fromColumn(value: unknown, { type, comment }: ColumnKind): unknown {
  if (value === null || value === undefined) return undefined
  if (/U?Int(64|128|256)/.test(type)) return BigInt(value as string | number)
  if (type.includes('DateTime')) return new StoredTime(value as string)
  if (type.includes('Decimal')) return exactly(value)
  return comment === 'json' ? parseNested(value as string) : value
}

/** What is known of a column. */
export interface ColumnKind {
  readonly type: string
  readonly comment: string
}

function exactly(value: unknown): unknown {
  const scaled = scaledOf(value)
  return scaled ? decimalOf(scaled) : value
}

/** A Date that goes back with the microseconds it came with, unless it was changed. */
class StoredTime extends Date {
  readonly #text: string
  readonly #millis: number

  constructor(text: string) {
    super(text)
    this.#text = text
    this.#millis = this.getTime()
  }

  override toISOString(): string {
    return this.getTime() === this.#millis ? this.#text : super.toISOString()
  }
}
