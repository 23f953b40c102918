import { invalidArgument } from '../platform/errors.ts'
import { instantSeconds } from './instant-seconds.ts'
import type { StatementSource } from './place-error.ts'
import type { SqlParameters } from './sql-engine.ts'

/** A value and the engine's type that `${name}` stands for. */
interface TypedValue {
  readonly value: unknown
  readonly type: string
}

/** A statement with placeholders that the engine itself binds, and their values (SQ-6). */
export interface BoundStatement {
  readonly sql: string
  readonly parameters: SqlParameters
  readonly source: StatementSource
}

/**
 * Quoted texts and names, comments, here-documents: what looks like a placeholder in there is none. Then the placeholders of either kind, the engine's own with their types. Where this reads a
 * statement otherwise than the engine does, nothing worse happens than a placeholder more or less: values are never text.
 */
const SKIPPED =
  /'(?:\\.|''|[^'\\])*'|"(?:\\.|""|[^"\\])*"|`(?:\\.|``|[^`\\])*`|--[^\n]*|\/\*.*?\*\/|\$(\w*)\$.*?\$\1\$|\$\{(\w+)\}|\{\s*(\w+)\s*:\s*([^{}]*?)\s*\}/gs
/** A type whose numbers are integers. */
const OF_INTEGERS = /^(?:(?:Array|Nullable|LowCardinality)\()*(U?Int(?:8|16|32|64|128|256))\)*$/
const OF_TIME = /^(?:Nullable\()?DateTime/

/** Turns `${name}` into placeholders of the values' types, and values of either spelling into plain ones. */
export function bindParameters(sql: string, given: Readonly<Record<string, unknown>>): BoundStatement {
  const typed = new Map<string, TypedValue>()
  for (const [name, value] of Object.entries(fieldsOf(given))) {
    const field = `sqlQuery.parameters.${name}`
    typed.set(name, isRich(given) ? readRichValue(value, field) : readPlainValue(value, field))
  }
  const replacements: { end: number; growth: number }[] = []
  const types = new Map<string, string[]>()
  let grown = 0
  const bound = sql.replaceAll(
    SKIPPED,
    (text: string, _tag: Group, name: Group, ownName: Group, ownType: Group, at: number) => {
      if (ownName !== undefined && ownType !== undefined) {
        const integer = OF_INTEGERS.exec(ownType)?.[1]
        if (integer) checkRange(`sqlQuery.parameters.${ownName}`, typed.get(ownName)?.value, integer)
        types.set(ownName, [...(types.get(ownName) ?? []), ownType])
      }
      if (name === undefined) return text
      const found = typed.get(name)
      if (!found) throw invalidArgument(`sqlQuery.parameters.${name} is required: the statement names it`)
      types.set(name, [...(types.get(name) ?? []), found.type])
      const placeholder = `{${name}:${found.type}}`
      const growth = placeholder.length - text.length
      grown += growth
      replacements.push({ end: at + text.length + grown, growth })
      return placeholder
    },
  )
  return {
    sql: bound,
    parameters: Object.fromEntries(
      [...typed].map(([name, { value }]) => [name, asTime(value, types.get(name) ?? [])]),
    ),
    source: { given: sql, bound, replacements },
  }
}

/** What a part of `SKIPPED` has found. */
type Group = string | undefined

/** Where a value is nothing but a time, it may be written as answers write times; the engine reads seconds there. */
function asTime(value: unknown, types: readonly string[]): unknown {
  if (typeof value !== 'string' || types.length === 0 || !types.every((type) => OF_TIME.test(type)))
    return value
  return instantSeconds(value) ?? value
}

/** The engine takes the last bits of a number that is too large for its placeholder. */
function checkRange(field: string, value: unknown, type: string): void {
  if (Array.isArray(value)) for (const each of value) checkRange(field, each, type)
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : ''
  if (!/^-?\d{1,100}$/.test(text)) return
  const bits = BigInt(type.replace(/^\D+/, ''))
  const [from, to] = type.startsWith('U')
    ? [0n, 2n ** bits - 1n]
    : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n]
  if (BigInt(text) < from || BigInt(text) > to) {
    throw invalidArgument(`${field} must be from ${from} to ${to}: the statement takes it as ${type}`)
  }
}

/** Existing clients send `{fields: {name: {intValue: 1}}}`. */
function isRich(given: Readonly<Record<string, unknown>>): boolean {
  const names = Object.keys(given)
  const { fields } = given
  return names.length === 1 && isRecord(fields) && Object.values(fields).every(isRecord)
}

function fieldsOf(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return isRich(given) ? (given['fields'] as Readonly<Record<string, unknown>>) : given
}

function readPlainValue(value: unknown, field: string): TypedValue {
  switch (typeof value) {
    case 'string':
      return { value, type: 'String' }
    case 'boolean':
      return { value, type: 'Bool' }
    case 'number':
      return { value, type: Number.isSafeInteger(value) ? 'Int64' : 'Float64' }
    default:
      if (value === null) return { value, type: 'Nullable(String)' }
      if (Array.isArray(value)) return readList(value.map((each) => readPlainValue(each, field)))
      // `{name:Map(String, String)}` may still take it.
      if (isRecord(value)) return { value, type: 'Map(String, String)' }
      throw invalidArgument(`${field} must be a JSON value`)
  }
}

function readList(elements: readonly TypedValue[]): TypedValue {
  const types = new Set(elements.map(({ type }) => type))
  const isNumeric = [...types].every((type) => type === 'Int64' || type === 'Float64')
  const type = types.size > 1 && isNumeric ? 'Float64' : (elements[0]?.type ?? 'String')
  return { value: elements.map(({ value }) => value), type: `Array(${type})` }
}

function readRichValue(value: unknown, field: string): TypedValue {
  const [[kind, inner] = ['', undefined]] = Object.entries(isRecord(value) ? value : {})
  switch (camelCase(kind)) {
    case 'nullValue':
      return { value: null, type: 'Nullable(String)' }
    case 'intValue':
    case 'int64Value':
      return { value: inner, type: 'Int64' }
    case 'floatValue':
      return { value: inner, type: 'Float64' }
    case 'boolValue':
      return { value: inner, type: 'Bool' }
    case 'stringValue':
      return { value: inner, type: 'String' }
    case 'bytesValue':
      return { value: Buffer.from(String(inner), 'base64').toString(), type: 'String' }
    case 'timestampValue':
      return { value: readInstant(String(inner), field), type: "DateTime64(6, 'UTC')" }
    case 'bigintValue':
      return { value: readInteger(inner).toString(), type: 'Int256' }
    case 'bigdecimalValue':
      return { value: readDecimal(inner), type: 'Decimal(76, 30)' }
    case 'listValue':
      return readList(listOf(inner).map((each) => readRichValue(each, field)))
    default:
      throw invalidArgument(
        `${field} must be one of nullValue, intValue, int64Value, floatValue, boolValue, stringValue, bytesValue, timestampValue, bigintValue, bigdecimalValue, listValue`,
      )
  }
}

function listOf(inner: unknown): readonly unknown[] {
  const values = isRecord(inner) ? inner['values'] : inner
  return Array.isArray(values) ? values : []
}

function readInstant(text: string, field: string): string {
  const seconds = instantSeconds(text)
  if (seconds === null) throw invalidArgument(`${field} must be a time of RFC 3339`)
  return seconds
}

/** Sign, and big-endian bytes in base64. */
function readInteger(inner: unknown): bigint {
  const { negative, data } = isRecord(inner) ? inner : {}
  const bytes = Buffer.from(typeof data === 'string' ? data : '', 'base64')
  const absolute = bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString('hex')}`)
  return negative === true ? -absolute : absolute
}

function readDecimal(inner: unknown): string {
  const { value, exp } = isRecord(inner) ? inner : {}
  const digits = readInteger(value)
  const exponent = typeof exp === 'number' ? exp : 0
  if (exponent >= 0) return (digits * 10n ** BigInt(Math.min(exponent, 76))).toString()
  const sign = digits < 0n ? '-' : ''
  const text = (digits < 0n ? -digits : digits).toString().padStart(1 - exponent, '0')
  return `${sign}${text.slice(0, exponent)}.${text.slice(exponent)}`
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
