import type {
  AttributeKind,
  AttributeRow,
  EntityChange,
  EventRow,
  Place,
  Sample,
  Series,
} from '../ingest/batch.ts'
import { coerceAttribute } from '../ingest/coerce-attribute.ts'
import { formatMicros } from '../ingest/parse-time.ts'

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

/** An event's own columns, in the order of `EVENT_COLUMNS` and then the batch. */
export function eventFields({ place, distinctId, severity, message }: EventRow, sequence: number): string {
  const { chain, address, contract, blockHash, transactionHash } = place
  return `"${formatMicros(place.timestampMicros)}",${place.blockNumber},${JSON.stringify(blockHash)},${JSON.stringify(transactionHash)},${place.transactionIndex},${place.logIndex},${JSON.stringify(chain)},${JSON.stringify(address)},${JSON.stringify(contract)},${JSON.stringify(distinctId)},${JSON.stringify(severity)},${JSON.stringify(message)},${sequence}`
}

/** An entity change's own columns, in the order of `ENTITY_COLUMNS`. */
export function entityFields({ place, id, isDeleted, index }: EntityChange, sequence: number): string {
  const { chain, address, contract, blockHash, transactionHash } = place
  return `${JSON.stringify(id)},${JSON.stringify(chain)},${place.blockNumber},"${formatMicros(place.timestampMicros)}",${JSON.stringify(blockHash)},${JSON.stringify(transactionHash)},${place.transactionIndex},${place.logIndex},${JSON.stringify(contract)},${JSON.stringify(address)},${isDeleted},${index},${sequence}`
}

/** The attributes of a row in the order of the columns of its table, each behind a comma. */
export function attributeFields(
  { name, attributes }: AttributeRow,
  columns: ReadonlyMap<string, AttributeKind>,
): string {
  let fields = ''
  for (const [column, kind] of columns) {
    const attribute = attributes.get(column)
    const token = attribute ? coerceAttribute(attribute, kind) : 'null'
    // What does not fit was refused when room was made for it.
    if (token === undefined) throw new Error(`a value of ${name}.${column} does not fit its column`)
    fields += `,${token}`
  }
  return fields
}
