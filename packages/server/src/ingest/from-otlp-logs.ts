import { cleanName } from '../platform/clean-name.ts'
import { RESERVED_ATTRIBUTES } from './name.ts'
import { attributeOf, microsOf, textOf, type AnyValue, type KeyValue } from './otlp-value.ts'
import type { Translation } from './translation.ts'

interface LogRecord {
  readonly timeUnixNano?: bigint | number | string
  readonly observedTimeUnixNano?: bigint | number | string
  readonly severityNumber?: number
  readonly severityText?: string
  readonly body?: AnyValue
  readonly attributes?: readonly KeyValue[]
  readonly traceId?: Uint8Array | string
  readonly spanId?: Uint8Array | string
  readonly eventName?: string
}

/** `ExportLogsServiceRequest`, as far as it is read. */
interface OtlpLogs {
  readonly resourceLogs?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] }
    readonly scopeLogs?: readonly { readonly logRecords?: readonly LogRecord[] }[]
  }[]
}

/** The event log of records that name no event. */
const UNNAMED = 'logs'
const SEVERITIES = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'] as const
/** Attributes that are fields of a record, and how the record calls them. */
const FIELDS: Readonly<Record<string, string>> = {
  chain: 'chain',
  contract: 'contract',
  address: 'address',
  block_hash: 'blockHash',
  transaction_hash: 'transactionHash',
  distinct_id: 'distinctId',
}

/**
 * Translates log records of OpenTelemetry into events. The log is named by the event's name, else `logs`. A body that is a text is the message,
 * any other the attribute `body`. An attribute named like a column that every event log has becomes that column where it is the same thing, else
 * its name gets the prefix `attribute_`.
 *
 * @param nowMicros the time of records that have none
 */
export function fromOtlpLogs(request: OtlpLogs, nowMicros: number): Translation {
  const records: object[] = []
  for (const { resource, scopeLogs } of request.resourceLogs ?? []) {
    for (const record of (scopeLogs ?? []).flatMap((scope) => scope.logRecords ?? [])) {
      records.push(toEvent(record, resource?.attributes ?? [], nowMicros))
    }
  }
  return { records, rejected: [] }
}

function toEvent(record: LogRecord, shared: readonly KeyValue[], nowMicros: number): object {
  const fields: Record<string, unknown> = {}
  const attributes = Object.create(null) as Record<string, unknown>
  let name = record.eventName ?? ''
  for (const { key = '', value } of [...shared, ...(record.attributes ?? [])]) {
    const clean = cleanName(key)
    const field = FIELDS[clean]
    if (key === 'event.name' && name === '') name = textOf(value)
    else if (field !== undefined && value?.stringValue !== undefined) fields[field] = value.stringValue
    else attributes[RESERVED_ATTRIBUTES.has(clean) ? `attribute_${clean}` : clean] = attributeOf(value)
  }
  const { body } = record
  if (body && body.stringValue === undefined) attributes['body'] = attributeOf(body)
  const traceId = hexOf(record.traceId)
  const spanId = hexOf(record.spanId)
  if (traceId !== '') attributes['trace_id'] = traceId
  if (spanId !== '') attributes['span_id'] = spanId
  return {
    type: 'event',
    name: name === '' ? UNNAMED : name,
    message: body?.stringValue ?? '',
    severity: severityOf(record),
    timestampMicros: microsOf(record.timeUnixNano) ?? microsOf(record.observedTimeUnixNano) ?? nowMicros,
    attributes,
    ...fields,
  }
}

function severityOf({ severityText = '', severityNumber = 0 }: LogRecord): string {
  if (severityText !== '') return severityText
  return SEVERITIES[Math.floor((severityNumber - 1) / 4)] ?? ''
}

/** JSON writes these ids in hexadecimal, protobuf as bytes. */
function hexOf(id: Uint8Array | string | undefined): string {
  return typeof id === 'string' ? id : Buffer.from(id ?? []).toString('hex')
}
