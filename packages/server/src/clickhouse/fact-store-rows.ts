import type { AttributeKind, EventRow, Place, Sample, Series } from '../ingest/batch.ts'
import { coerceAttribute } from '../ingest/coerce-attribute.ts'
import { formatMicros } from '../ingest/parse-time.ts'
import { EVENT_BATCH_COLUMN, EVENT_COLUMNS } from './layout.ts'

/** Columns of `points` in the order of `pointRow`. */
export const POINT_COLUMNS = [
  'metric',
  'series_id',
  'timestamp',
  'value',
  'exact',
  'chain',
  'block_number',
  'ordinal',
  'batch',
] as const

const prefixes = new WeakMap<Series, string>()
const MAX_POSITION = 2 ** 20 - 1
const MAX_INDEX = 2 ** 22 - 1

/** A sample as a line of JSONCompactEachRow. */
export function pointRow({ series, value, exact, place, index }: Sample, sequence: number): string {
  const chain = place.chain === '' ? '""' : JSON.stringify(place.chain)
  return `${prefixOf(series)}"${formatMicros(place.timestampMicros)}",${value},"${exact}",${chain},${place.blockNumber},${ordinalOf(place, index, sequence)},${sequence}]`
}

function prefixOf(series: Series): string {
  const known = prefixes.get(series)
  if (known !== undefined) return known
  const prefix = `[${JSON.stringify(series.metric)},${series.id},`
  prefixes.set(series, prefix)
  return prefix
}

/**
 * Orders samples of one time by their place: 22 bits of transaction index, 22 of log index, 20 of the position in the batch. What has no chain
 * has no place either, and is ordered by arrival: batch number, then position.
 */
export function ordinalOf(place: Place, index: number, sequence: number): string {
  const position = Math.min(index, MAX_POSITION)
  if (place.chain === '') return String(BigInt(sequence) * 2n ** 20n + BigInt(position))
  const { transactionIndex, logIndex } = place
  if (transactionIndex === 0 && logIndex === 0) return String(position)
  const transaction = BigInt(Math.min(transactionIndex, MAX_INDEX))
  const log = BigInt(Math.min(logIndex, MAX_INDEX))
  return String(transaction * 2n ** 42n + log * 2n ** 20n + BigInt(position))
}

/** Columns of an event log in the order of `eventLine`. */
export function eventLineColumns(attributes: ReadonlyMap<string, AttributeKind>): readonly string[] {
  return [...Object.keys(EVENT_COLUMNS), EVENT_BATCH_COLUMN, ...attributes.keys()]
}

/** An event as a line of JSONCompactEachRow. */
export function eventLine(
  { place, distinctId, severity, message, attributes }: EventRow,
  sequence: number,
  columns: ReadonlyMap<string, AttributeKind>,
): string {
  const { chain, address, contract, blockHash, transactionHash } = place
  let line = `["${formatMicros(place.timestampMicros)}",${place.blockNumber},${JSON.stringify(blockHash)},${JSON.stringify(transactionHash)},${place.transactionIndex},${place.logIndex},${JSON.stringify(chain)},${JSON.stringify(address)},${JSON.stringify(contract)},${JSON.stringify(distinctId)},${JSON.stringify(severity)},${JSON.stringify(message)},${sequence}`
  for (const [name, kind] of columns) {
    const attribute = attributes.get(name)
    line += attribute ? `,${coerceAttribute(attribute, kind) ?? 'null'}` : ',null'
  }
  return `${line}]`
}
