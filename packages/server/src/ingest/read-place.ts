import type { Place } from './batch.ts'
import { RecordFault } from './record-fault.ts'
import { EARLIEST_MICROS, LATEST_MICROS, parseTime } from './parse-time.ts'

/** A record as `JSON.parse` gave it. */
export type WireRecord = Readonly<Record<string, unknown>>

const UINT32_MAX = 0xffff_ffff

/** Reads where a record comes from (IN-1), in either spelling (WI-2). */
export function readPlace(record: WireRecord): Place {
  return {
    chain: readTextWithoutNul(record['chain'], 'chain', 64),
    blockNumber: readInteger(
      record['blockNumber'] ?? record['block_number'],
      'blockNumber',
      Number.MAX_SAFE_INTEGER,
    ),
    timestampMicros: readTimestamp(record),
    blockHash: readText(record['blockHash'] ?? record['block_hash'], 'blockHash', 128),
    transactionHash: readText(
      record['transactionHash'] ?? record['transaction_hash'],
      'transactionHash',
      128,
    ),
    transactionIndex: readInteger(
      record['transactionIndex'] ?? record['transaction_index'],
      'transactionIndex',
      UINT32_MAX,
    ),
    logIndex: readInteger(record['logIndex'] ?? record['log_index'], 'logIndex', UINT32_MAX),
    contract: readText(record['contract'], 'contract', 512),
    address: readText(record['address'], 'address', 128),
  }
}

/** A text of up to `maxLength` characters; absent and null are the empty text. */
export function readText(value: unknown, field: string, maxLength: number): string {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') throw new RecordFault(field, 'must be a string')
  if (value.length > maxLength) throw new RecordFault(field, `has more than ${maxLength} characters`)
  if (!value.isWellFormed())
    throw new RecordFault(field, 'holds half a surrogate pair, which is no Unicode text')
  return value
}

/** The same, of what the control database keeps too: PostgreSQL takes no U+0000. */
export function readTextWithoutNul(value: unknown, field: string, maxLength: number): string {
  const text = readText(value, field, maxLength)
  if (text.includes('\u0000')) throw new RecordFault(field, 'must not hold the character U+0000')
  return text
}

/** An integer from 0 to `maximum`, also as a decimal text; absent and null are 0. */
export function readInteger(value: unknown, field: string, maximum: number): number {
  if (value === undefined || value === null) return 0
  const number = typeof value === 'string' && /^[0-9]{1,16}$/.test(value) ? Number(value) : value
  if (!Number.isInteger(number) || (number as number) < 0 || (number as number) > maximum) {
    throw new RecordFault(field, `must be an integer from 0 to ${maximum}`)
  }
  return number as number
}

function readTimestamp(record: WireRecord): number {
  const given = record['timestampMicros'] ?? record['timestamp_micros']
  const time = record['time']
  if (given === undefined || given === null) {
    if (time === undefined || time === null)
      throw new RecordFault('timestampMicros', 'is required, or time instead')
    const micros = typeof time === 'string' ? parseTime(time) : undefined
    if (micros === undefined) {
      throw new RecordFault(
        'time',
        'must be RFC 3339 such as "2026-01-31T12:00:00.000001Z", from 1900 to 2254',
      )
    }
    return micros
  }
  const micros = typeof given === 'string' && /^-?[0-9]{1,16}$/.test(given) ? Number(given) : given
  if (
    !Number.isInteger(micros) ||
    (micros as number) < EARLIEST_MICROS ||
    (micros as number) > LATEST_MICROS
  ) {
    throw new RecordFault(
      'timestampMicros',
      'must be an integer of microseconds since 1970, from 1900 to 2254',
    )
  }
  return micros as number
}
