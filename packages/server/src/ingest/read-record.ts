import { fitsDecimal, isBeyondExactIntegers, survivesAsFloat64 } from './exact-number.ts'
import { cleanName } from '../platform/clean-name.ts'
import type { MetricMetadata } from './batch.ts'
import { MAX_HELP_LENGTH, MAX_NAME_LENGTH, MAX_UNIT_LENGTH } from './name.ts'
import type { SentRecord } from './parse-body.ts'
import { readText, type WireRecord } from './read-place.ts'
import { RecordFault } from './record-fault.ts'

/** The name of a metric or an event log, cleaned (IN-5). */
export function readName(record: WireRecord): string {
  const name = record['name']
  if (name === undefined || name === null || name === '') throw new RecordFault('name', 'is required')
  if (typeof name !== 'string') throw new RecordFault('name', 'must be a string')
  if (name.length > MAX_NAME_LENGTH)
    throw new RecordFault('name', `has more than ${MAX_NAME_LENGTH} characters`)
  return cleanName(name)
}

/** What a record says of a metric. */
export function readMetadata(record: WireRecord): MetricMetadata {
  return {
    unit: readText(record['unit'], 'unit', MAX_UNIT_LENGTH),
    help: readText(record['help'], 'help', MAX_HELP_LENGTH),
  }
}

/**
 * A sample's value and, where a Float64 rounds it, its digits as sent (IN-6): a number, `{"$int"}` or `{"$decimal"}`.
 */
export function readValue(record: WireRecord, sent: SentRecord): { value: number; exact: string } {
  const given = record['value']
  if (typeof given === 'number') {
    if (!sent.mayHoldLongNumbers && !isBeyondExactIntegers(given)) return { value: given, exact: '' }
    return exactValue(sent.written('value'))
  }
  const digits = typeof given === 'object' && given !== null ? readTaggedDigits(given) : undefined
  if (digits === undefined) {
    throw new RecordFault('value', 'must be a finite number, {"$int": "…"} or {"$decimal": "…"}')
  }
  return exactValue(digits)
}

function exactValue(digits: string): { value: number; exact: string } {
  const value = Number(digits)
  if (!Number.isFinite(value)) throw new RecordFault('value', 'must be a finite number')
  return { value, exact: survivesAsFloat64(digits) ? '' : digits }
}

function readTaggedDigits(value: object): string | undefined {
  const { $int: int, $decimal: decimal } = value as Readonly<Record<string, unknown>>
  if (typeof int === 'string' && /^-?[0-9]{1,78}$/.test(int)) return int
  return typeof decimal === 'string' && fitsDecimal(decimal) ? decimal : undefined
}

/** Where an export stands among those of its block and channel (EV-1); null when the sender leaves it to the order of arrival. */
export function readPosition(record: WireRecord): number | null {
  const given = record['position']
  if (given === undefined || given === null) return null
  const position = typeof given === 'string' && /^[0-9]{1,13}$/.test(given) ? Number(given) : given
  if (!Number.isInteger(position) || (position as number) < 0 || (position as number) > 2 ** 40) {
    throw new RecordFault('position', 'must be an integer from 0 to 2^40')
  }
  return position as number
}

/** The bytes of an export's payload, as they were sent (DL-1). */
export function readExportData(record: WireRecord, sent: SentRecord, maxBytes: number): Uint8Array {
  if (record['data'] === undefined) throw new RecordFault('data', 'is required')
  const data = Buffer.from(sent.written('data'), 'utf8')
  if (data.byteLength <= maxBytes) return data
  throw new RecordFault('data', `has ${data.byteLength} bytes; at most ${maxBytes} are allowed in an export`)
}
