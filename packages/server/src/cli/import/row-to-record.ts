import { UsageError } from '../usage-error.ts'
import { parseExactly, WrittenNumber } from './parse-exactly.ts'
import type { FileDecimal, FileTime, SourceRow } from './source-row.ts'

/** What rows become. */
export const RECORD_KINDS = ['event', 'counter', 'gauge', 'entity'] as const
export type RecordKind = (typeof RECORD_KINDS)[number]

/** How columns of text are read. */
export const COLUMN_TYPES = ['string', 'number', 'int', 'decimal', 'boolean', 'time', 'json'] as const
export type ColumnType = (typeof COLUMN_TYPES)[number]

/** How rows become records. */
export interface Mapping {
  readonly kind: RecordKind
  readonly name: string
  /** Column by the field of a record that it gives, where they differ in name. */
  readonly columnOfField: Readonly<Record<string, string>>
  /** Types of columns; texts of others are strings. */
  readonly typeOfColumn: Readonly<Record<string, ColumnType>>
  /** Chain of rows that name none. */
  readonly chain: string | undefined
}

const PLACE_FIELDS = [
  'chain',
  'blockNumber',
  'blockHash',
  'transactionHash',
  'transactionIndex',
  'logIndex',
  'contract',
  'address',
  'time',
] as const
const FIELDS = {
  event: [...PLACE_FIELDS, 'distinctId', 'severity', 'message'],
  counter: [...PLACE_FIELDS, 'value'],
  gauge: [...PLACE_FIELDS, 'value'],
  entity: [...PLACE_FIELDS, 'id'],
} as const satisfies Record<RecordKind, readonly string[]>
const INTEGERS: ReadonlySet<string> = new Set(['blockNumber', 'transactionIndex', 'logIndex'])

/** Other names under which files call a field. */
const SYNONYMS: Readonly<Record<string, string>> = {
  timestamp: 'time',
  timestamp_micros: 'time',
  timestampMicros: 'time',
  block_timestamp: 'time',
  block_time: 'time',
}

/** The field that a name in either spelling stands for (WI-2). */
function fieldCalled(name: string): string {
  return SYNONYMS[name] ?? name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())
}

/** Makes the translation of rows: columns that are fields of a record become them, the others attributes, or labels of a metric. */
export function createRowToRecord(mapping: Mapping): (row: SourceRow) => object {
  const { kind, name, chain, typeOfColumn } = mapping
  const fields: ReadonlySet<string> = new Set(FIELDS[kind])
  const fieldOfColumn = new Map(
    Object.entries(mapping.columnOfField).map(([written, column]) => {
      const field = fieldCalled(written)
      if (!fields.has(field))
        throw new UsageError(`--column ${written}= must name one of ${[...fields].join(', ')}`)
      return [column, field]
    }),
  )
  const given = new Set(fieldOfColumn.values())
  const isMetric = kind === 'counter' || kind === 'gauge'

  const fieldOf = (column: string): string | undefined => {
    const explicit = fieldOfColumn.get(column)
    if (explicit !== undefined) return explicit
    const guess = fieldCalled(column)
    return fields.has(guess) && !given.has(guess) ? guess : undefined
  }
  return (row) => {
    const record: Record<string, unknown> = {
      type: kind === 'entity' ? 'upsert' : kind,
      name,
      ...(chain === undefined ? {} : { chain }),
    }
    const rest: Record<string, unknown> = {}
    for (const [column, cell] of Object.entries(row)) {
      if (cell === null || cell === undefined) continue
      const field = fieldOf(column)
      if (field === 'time') Object.assign(record, timeOf(cell, column))
      else if (field === 'value') record['value'] = numberOf(cell, column)
      else if (field !== undefined) record[field] = INTEGERS.has(field) ? Number(textOf(cell)) : textOf(cell)
      else if (isMetric) rest[column] = textOf(cell)
      else rest[column] = attributeOf(cell, typeOfColumn[column], column)
    }
    record[isMetric ? 'labels' : 'attributes'] = rest
    return record
  }
}

/** Times of files: an instant, a text, or a number since 1970 in the unit that its size tells. */
function timeOf(cell: unknown, column: string): object {
  if (isTime(cell)) return { timestampMicros: Number(cell.micros) }
  if (cell instanceof Date) return { timestampMicros: cell.getTime() * 1000 }
  const text = textOf(cell)
  if (/^-?\d+(\.\d+)?$/.test(text)) {
    const size = Math.abs(Number(text))
    const perMicro = size < 1e11 ? 1e6 : size < 1e14 ? 1e3 : size < 1e17 ? 1 : 1e-3
    return { timestampMicros: Math.round(Number(text) * perMicro) }
  }
  return { time: instantOf(text, column) }
}

/** RFC 3339 from the ways in which databases write instants; without a zone they are UTC. */
function instantOf(text: string, column: string): string {
  const match = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(\.\d+)?)? ?(Z|UTC|[+-]\d\d:?\d\d)?$/i.exec(
    text,
  )
  if (!match) throw isNo('instant', text, column)
  const [, date = '', time = '00:00:00', fraction = '', zone = 'Z'] = match
  const seconds = time.length === 5 ? `${time}:00` : time
  const offset = /^(z|utc)$/i.test(zone)
    ? 'Z'
    : zone.length === 5
      ? `${zone.slice(0, 3)}:${zone.slice(3)}`
      : zone
  return `${date}T${seconds}${fraction.slice(0, 7)}${offset}`
}

function numberOf(cell: unknown, column: string): unknown {
  if (typeof cell === 'number') return cell
  const digits = textOf(cell)
  if (/^-?\d+$/.test(digits)) return { $int: digits }
  if (/^-?\d+\.\d+$/.test(digits)) return { $decimal: digits }
  return finite(digits, column)
}

function finite(text: string, column: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw isNo('finite number', text, column)
  return value
}

function booleanOf(text: string, column: string): boolean {
  if (/^(true|t|1|yes)$/i.test(text)) return true
  if (/^(false|f|0|no)$/i.test(text)) return false
  throw isNo('boolean (true or false)', text, column)
}

function jsonOf(text: string, column: string): unknown {
  try {
    return parseExactly(text)
  } catch {
    throw isNo('JSON', text, column)
  }
}

function isNo(what: string, text: string, column: string): Error {
  return new Error(`column ${column} holds "${text.slice(0, 40)}", which is no ${what}`)
}

function attributeOf(cell: unknown, type: ColumnType | undefined, column: string): unknown {
  if (isTime(cell))
    return { $time: new Date(Number(cell.micros / 1000n)).toISOString().replace('Z', `${micros(cell)}Z`) }
  if (cell instanceof Date) return { $time: cell.toISOString() }
  if (cell instanceof WrittenNumber) return numberOf(cell, column)
  if (isDecimal(cell)) return { $decimal: cell.digits }
  if (typeof cell === 'bigint') return { $int: cell.toString() }
  if (cell instanceof Uint8Array) return textOf(cell)
  if (typeof cell !== 'string') return cell
  switch (type) {
    case undefined:
    case 'string':
      return cell
    case 'number':
      return numberOf(finite(cell, column), column)
    case 'int':
      return { $int: cell }
    case 'decimal':
      return { $decimal: cell }
    case 'boolean':
      return booleanOf(cell, column)
    case 'time':
      return { $time: instantOf(cell, column) }
    case 'json':
      return jsonOf(cell, column)
  }
}

function micros({ micros: value }: FileTime): string {
  return String(((value % 1000n) + 1000n) % 1000n).padStart(3, '0')
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function textOf(cell: unknown): string {
  if (typeof cell === 'string') return cell
  if (isDecimal(cell)) return cell.digits
  if (!(cell instanceof Uint8Array))
    return typeof cell === 'object' ? JSON.stringify(cell) : `${cell as number}`
  try {
    return utf8.decode(cell)
  } catch {
    return `0x${Buffer.from(cell).toString('hex')}`
  }
}

function isTime(cell: unknown): cell is FileTime {
  return typeof cell === 'object' && cell !== null && 'micros' in cell
}

function isDecimal(cell: unknown): cell is FileDecimal {
  return typeof cell === 'object' && cell !== null && 'digits' in cell
}
