/** A decimal of any library that prints itself in plain notation: big.js, bignumber.js, decimal.js. */
interface DecimalLike {
  toFixed(): string
}

/** A metric's value. A bigint and a decimal arrive with all their digits (IN-6); a number must be finite. */
export type MetricValue = number | bigint | DecimalLike

/** Labels of a sample. Numbers, bigints and booleans become their text. */
export type Labels = Readonly<Record<string, string | number | bigint | boolean>>

/** Columns of an event. A bigint, a `Date` and a decimal arrive exactly; arrays and objects become JSON text. */
export type Attributes = Readonly<Record<string, unknown>>

/** A value as the ingest API takes it: `{"$int"}` and `{"$decimal"}` where JSON's numbers would lose digits. */
export function encodeMetricValue(name: string, value: MetricValue): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new TypeError(`value of metric "${name}" must be finite, got ${value}`)
  }
  return encodeScalar(value)
}

/** Labels as strings; absent ones are left out. */
export function encodeLabels(labels: Labels): Record<string, string> {
  const encoded: Record<string, string> = {}
  for (const [name, value] of Object.entries(labels)) {
    if (value !== undefined && value !== null) encoded[name] = String(value)
  }
  return encoded
}

/** Attributes of an event as the ingest API takes them. */
export function encodeAttributes(attributes: Attributes): Record<string, unknown> {
  const encoded: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) encoded[name] = encodeScalar(value)
  }
  return encoded
}

/** A value of an attribute: bigints, decimals and Dates tagged, what is no finite number as null. */
export function encodeScalar(value: unknown): unknown {
  if (typeof value === 'bigint') return { $int: value.toString() }
  if (value instanceof Date) return { $time: value.toISOString() }
  if (isDecimalLike(value)) return { $decimal: value.toFixed() }
  if (typeof value === 'number' && !Number.isFinite(value)) return null
  return value
}

function isDecimalLike(value: unknown): value is DecimalLike {
  return (
    typeof value === 'object' && value !== null && 'toFixed' in value && typeof value.toFixed === 'function'
  )
}

/** JSON text that goes into the data of an export as it is, digits and order of keys included. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    JSON.parse(text)
    // Line breaks can only stand between tokens; the record is a line.
    this.text = text.replace(/[\r\n]+/g, ' ')
  }
}

/**
 * One record as a line of NDJSON. Bigints that are left, inside nested attributes and in the data of an export,
 * become decimal strings: receivers parse JSON with doubles and would lose the digits of a bare number.
 */
export function encodeLine(record: object): string {
  const { data, ...others } = record as { readonly data?: unknown }
  if (data instanceof RawJson) return `${encodeLine(others).slice(0, -1)},"data":${data.text}}`
  return JSON.stringify(record, (_key, value: unknown) => {
    if (typeof value === 'bigint') return value.toString()
    return isDecimalLike(value) ? value.toFixed() : value
  })
}
