import { isUtf8 } from 'node:buffer'
import { bareType, type ColumnType } from './column-type.ts'

/** Turns the engine's value into the one of the answer. */
type Convert = (value: unknown) => unknown

/** Integers with more digits than a double holds, somewhere in a line. Where there are none, no digit can be lost. */
const LONG_NUMBER = /\d{16}/
const WHOLE_NUMBER = /^-?\d+$/
const WIDE_INTEGER = /^U?Int(128|256)$/

/** Reads one line of the engine, a JSON array, as the values of a row (SQ-4). */
export function createRowReader(types: readonly ColumnType[]): (line: Uint8Array) => readonly unknown[] {
  const converters = types.map(converterOf)
  return (line) => {
    const values = parseLine(line)
    for (const [n, convert] of converters.entries()) {
      if (convert) values[n] = convert(values[n])
    }
    return values
  }
}

function parseLine(bytes: Uint8Array): unknown[] {
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // Bytes that are no text would become replacement characters. Read as Latin-1, every byte survives the parser.
  if (!isUtf8(line)) return JSON.parse(line.toString('latin1'), keepDigitsOfBytes) as unknown[]
  const text = line.toString()
  return (LONG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text)) as unknown[]
}

/** Leaves a whole number that a double cannot hold as the text it came in. */
function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  return context?.source !== undefined && WHOLE_NUMBER.test(context.source) ? context.source : value
}

function keepDigitsOfBytes(key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value === 'string') return textOfBytes(value)
  if (isRecord(value)) return mapKeys(value)
  return keepDigits(key, value, context)
}

function mapKeys(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [textOfBytes(name), inner]))
}

/** Text from its bytes, one a character; base64 where they are no UTF-8. The parser may have unescaped U+2028. */
function textOfBytes(latin: string): string {
  const wide = /[\u0100-\uffff]/g
  const bytes = Buffer.from(
    latin.replace(wide, (letter) => Buffer.from(letter).toString('latin1')),
    'latin1',
  )
  return isUtf8(bytes) ? bytes.toString() : bytes.toString('base64')
}

function converterOf(given: ColumnType): Convert | null {
  const type = bareType(given)
  if (WIDE_INTEGER.test(type.name)) return nullable(String)
  if (/^B?Float\d+$/.test(type.name)) return nullable(toNumber)
  if (type.name === 'Date' || type.name === 'Date32') return nullable((value) => `${String(value)}T00:00:00Z`)
  switch (type.name) {
    case 'Array':
      return listConverter(type.elements[0])
    case 'Map':
      return mapConverter(type.elements[1])
    case 'Tuple':
      return tupleConverter(type)
    case 'Nested':
      return listConverter({ ...type, name: 'Tuple' })
    default:
      return null
  }
}

function nullable(convert: Convert): Convert {
  return (value) => (value === null ? null : convert(value))
}

/** A float's digits may look like a long whole number's; it is a number all the same. */
function toNumber(value: unknown): unknown {
  return typeof value === 'string' ? Number(value) : value
}

function listConverter(element: ColumnType | undefined): Convert | null {
  const convert = element ? converterOf(element) : null
  return convert && ((value) => (Array.isArray(value) ? value.map(convert) : value))
}

function mapConverter(element: ColumnType | undefined): Convert | null {
  const convert = element ? converterOf(element) : null
  return (
    convert &&
    ((value) =>
      isRecord(value)
        ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, convert(inner)]))
        : value)
  )
}

function tupleConverter(type: ColumnType): Convert | null {
  const converters = type.elements.map(converterOf)
  if (converters.every((convert) => convert === null)) return null
  const convertAt = (place: number, inner: unknown): unknown => converters[place]?.(inner) ?? inner
  return (value) => {
    if (Array.isArray(value)) return value.map((inner: unknown, place) => convertAt(place, inner))
    if (!isRecord(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, inner], place) => [name, convertAt(place, inner)]),
    )
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
