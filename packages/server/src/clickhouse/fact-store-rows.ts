import type { AttributeKind, AttributeRow, EntityChange, EventRow } from '../ingest/batch.ts'
import { coerceAttribute } from '../ingest/coerce-attribute.ts'
import { formatMicros } from '../ingest/parse-time.ts'

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
