import { CHANNEL_NAME_RULE, isChannelName } from '../delivery/channel-name.ts'
import { nextTurn } from './next-turn.ts'
import type { ExportedMessage } from '../delivery/message.ts'
import type { Batch, EntityChange, EventRow, MetricMetadata, Sample, Series } from './batch.ts'
import type { IngestLimits } from './ingest-limits.ts'
import type { SentRecord } from './parse-body.ts'
import { readEntityChange, readEvent } from './read-attribute-rows.ts'
import { readPlace, readText, readTextWithoutNul, type WireRecord } from './read-place.ts'
import { readExportData, readMetadata, readName, readPosition, readValue } from './read-record.ts'
import { RecordFault } from './record-fault.ts'
import { MAX_FAULTS, RefusedRecords, type Fault } from './refused-records.ts'
import type { SeriesCatalog } from './series-catalog.ts'

/** So many records are checked in one go before other requests get their turn; about one millisecond. */
const RECORDS_PER_TURN = 1000

interface Validation {
  readonly version: number
  readonly catalog: SeriesCatalog
  readonly limits: IngestLimits
}

/** Checks every record and sorts them by what becomes of them. Throws `RefusedRecords` with the first faults by index (IN-2). */
export async function validateBatch(
  records: readonly (SentRecord | Sample)[],
  context: Validation,
): Promise<Batch> {
  const batch = {
    recordCount: records.length,
    samples: [] as Sample[],
    series: new Set<Series>(),
    metadata: new Map<string, MetricMetadata>(),
    events: new Map<string, EventRow[]>(),
    entities: new Map<string, EntityChange[]>(),
    exports: [] as ExportedMessage[],
  }
  const faults: Fault[] = []
  for (const [index, record] of records.entries()) {
    if (index % RECORDS_PER_TURN === RECORDS_PER_TURN - 1) await nextTurn()
    if ('series' in record) {
      addSample(batch, record)
      continue
    }
    try {
      readRecord(batch, record, index, context)
    } catch (error) {
      if (!(error instanceof RecordFault)) throw error
      faults.push({ index, field: error.field, message: error.message })
      if (faults.length === MAX_FAULTS) break
    }
  }
  if (faults.length === 0) return batch
  throw new RefusedRecords(faults)
}

type Draft = {
  readonly samples: Sample[]
  readonly series: Set<Series>
  readonly metadata: Map<string, MetricMetadata>
  readonly events: Map<string, EventRow[]>
  readonly entities: Map<string, EntityChange[]>
  readonly exports: ExportedMessage[]
}

function readRecord(batch: Draft, sent: SentRecord, index: number, context: Validation): void {
  const { value } = sent
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RecordFault('the record', 'must be an object')
  }
  const record = value as WireRecord
  switch (record['type']) {
    case 'counter':
    case 'gauge': {
      const place = readPlace(record)
      const series = context.catalog.seriesOf(readName(record), record['type'], record['labels'], place)
      addSample(batch, { series, ...readValue(record, sent), place, index })
      sent.onSeries?.(series)
      return
    }
    case 'metric':
      batch.metadata.set(readName(record), readMetadata(record))
      return
    case 'event':
      addRow(batch.events, readEvent(record, sent, index))
      return
    case 'upsert':
    case 'delete':
      addRow(batch.entities, readEntityChange(record, sent, index))
      return
    case 'export': {
      batch.exports.push(readExport(record, sent, context))
      return
    }
    default:
      throw new RecordFault('type', 'must be one of counter, gauge, metric, event, upsert, delete, export')
  }
}

function addSample({ samples, series }: Draft, sample: Sample): void {
  samples.push(sample)
  series.add(sample.series)
}

function addRow<Row extends EventRow | EntityChange>(rows: Map<string, Row[]>, row: Row): void {
  const ofName = rows.get(row.name)
  if (ofName) ofName.push(row)
  else rows.set(row.name, [row])
}

function readExport(record: WireRecord, sent: SentRecord, { version, limits }: Validation): ExportedMessage {
  const { chain, blockNumber, timestampMicros } = readPlace(record)
  return {
    channel: readChannel(record['channel']),
    exportName: readExportName(record['name']),
    chain,
    blockNumber,
    position: readPosition(record),
    timestampMicros,
    version,
    data: readExportData(record, sent, limits.maxExportBytes),
  }
}

function readChannel(value: unknown): string {
  const name = readText(value, 'channel', 512)
  if (name === '') throw new RecordFault('channel', 'is required')
  if (!isChannelName(name)) throw new RecordFault('channel', CHANNEL_NAME_RULE)
  return name
}

/** It goes to receivers and is kept as it is, not cleaned. */
function readExportName(value: unknown): string {
  const name = readTextWithoutNul(value, 'name', 512)
  if (name === '') throw new RecordFault('name', 'is required')
  return name
}
