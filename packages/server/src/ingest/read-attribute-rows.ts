import type { EntityChange, EventRow } from './batch.ts'
import { ENTITY_COLUMN_PREFIX, RESERVED_ATTRIBUTES } from './name.ts'
import type { SentRecord } from './parse-body.ts'
import { readAttributes } from './read-attributes.ts'
import { readPlace, readText, type WireRecord } from './read-place.ts'
import { readName } from './read-record.ts'
import { RecordFault } from './record-fault.ts'

/** Reads a row of an event log. */
export function readEvent(record: WireRecord, sent: SentRecord, index: number): EventRow {
  return {
    name: readName(record),
    place: readPlace(record),
    distinctId: readText(record['distinctId'] ?? record['distinct_id'], 'distinctId', 1024),
    severity: readText(record['severity'], 'severity', 32),
    message: readText(record['message'], 'message', 65_536),
    attributes: readAttributes(
      record['attributes'],
      (name) =>
        RESERVED_ATTRIBUTES.has(name) ? 'is reserved: every event log has a column of this name' : null,
      sent.mayHoldLongNumbers,
      (name) => sent.written('attributes', name),
    ),
    index,
  }
}

/** Reads an upsert, which replaces the whole state of an entity, or a delete, which has none. */
export function readEntityChange(record: WireRecord, sent: SentRecord, index: number): EntityChange {
  const isDeleted = record['type'] === 'delete'
  const id = readText(record['id'], 'id', 1024)
  if (id === '')
    throw new RecordFault('id', 'is required: the text that tells the entity from others of its name')
  return {
    name: readName(record),
    place: readPlace(record),
    id,
    isDeleted,
    attributes: isDeleted
      ? new Map()
      : readAttributes(record['attributes'], refusal, sent.mayHoldLongNumbers, (name) =>
          sent.written('attributes', name),
        ),
    index,
  }
}

function refusal(name: string): string | null {
  if (name === 'id') return 'is the id of the entity, which stands beside the attributes'
  return name.startsWith(ENTITY_COLUMN_PREFIX)
    ? `is reserved: names that begin with ${ENTITY_COLUMN_PREFIX} are columns of every entity`
    : null
}
