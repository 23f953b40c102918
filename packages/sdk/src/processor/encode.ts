import type { CounterRecord, EventRecord, MetricRecord } from './wire.ts'
import { isDecimalLike, type DecimalLike } from './exact-decimal.ts'

/** A metric's value. A bigint and a decimal arrive with all their digits (IN-6); a number must be finite. */
export type MetricValue = number | bigint | DecimalLike

/** Labels of a sample. Numbers, bigints and booleans become their text. */
export type Labels = Readonly<Record<string, string | number | bigint | boolean>>

/** What a metric's numbers are, for the list of metrics. */
export interface MetricOptions {
  /** E.g. `ETH`; at most 64 characters are kept. */
  readonly unit?: string
  /** At most 1024 characters are kept. */
  readonly description?: string
  /** Of existing processors; means nothing here. */
  readonly sparse?: boolean
}

/** Columns of an event. A bigint, a `Date` and a decimal arrive exactly; arrays and objects become JSON text. */
export type Attributes = Readonly<Record<string, unknown>>

/** A value as the ingest API takes it: `{"$int"}` and `{"$decimal"}` where JSON's numbers would lose digits. */
export function encodeMetricValue(name: string, value: MetricValue): CounterRecord['value'] {
  if (typeof value === 'bigint') return { $int: value.toString() }
  if (isDecimalLike(value)) return { $decimal: value.toFixed() }
  if (Number.isFinite(value)) return value
  throw new TypeError(
    `value of metric "${name}" must be a finite number, a bigint or a decimal, got ${value as unknown as string}`,
  )
}

/** Labels as strings; absent ones are left out. */
export function encodeLabels(labels: Labels): Record<string, string> {
  const encoded: Record<string, string> = {}
  for (const [name, value] of Object.entries(labels)) {
    if (value !== undefined && value !== null) encoded[name] = String(value)
  }
  return encoded
}

/** What is said of a metric as a record; null where nothing is. A cut may leave half a surrogate pair, which is no Unicode text. */
export function encodeMetric(
  name: string,
  { unit = '', description = '' }: MetricOptions = {},
): MetricRecord | null {
  if (unit + description === '') return null
  return {
    type: 'metric',
    name,
    unit: unit.slice(0, 64).toWellFormed(),
    help: description.slice(0, 1024).toWellFormed(),
  }
}

const SEVERITIES = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] as const

/** What an event is made of: `distinctId`, `severity` (a text, or a level from 0, debug, to 4, critical) and `message` are columns of their own. */
export function encodeEvent(all: Attributes): Omit<EventRecord, 'type' | 'name'> {
  const { distinctId, severity, message, ...attributes } = all
  const fields = { distinctId, severity: SEVERITIES[severity as number] ?? severity, message }
  return {
    ...Object.fromEntries(
      Object.entries(fields).flatMap(([field, value]) =>
        value === undefined || value === null ? [] : [[field, textOf(value)] as const],
      ),
    ),
    attributes: encodeAttributes(attributes),
  }
}

/** A text as it is, anything else as its JSON. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : plainJson(value)
}

/** Attributes of an event as the ingest API takes them. */
export function encodeAttributes(attributes: Attributes): Record<string, unknown> {
  const encoded: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) encoded[name] = encodeScalar(value)
  }
  return encoded
}

/** A value of an attribute: bigints, decimals and Dates tagged, bytes as `0x…`, what is no finite number as null. */
export function encodeScalar(value: unknown): unknown {
  if (typeof value === 'bigint') return { $int: value.toString() }
  if (value instanceof Date) return { $time: value.toISOString() }
  if (value instanceof Uint8Array) return hexOf(value)
  if (isDecimalLike(value)) return { $decimal: value.toFixed() }
  if (typeof value === 'number' && !Number.isFinite(value)) return null
  return value
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
  return plainJson(record)
}

/** JSON with bigints, decimals and bytes as texts. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each === 'bigint') return each.toString()
    if (each instanceof Uint8Array) return hexOf(each)
    return isDecimalLike(each) ? each.toFixed() : each
  })
}

/** Bytes as `0x…`. */
export function hexOf(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString('hex')}`
}
