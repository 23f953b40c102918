import { Type } from 'typebox'

/** A 256-bit integer that JSON numbers cannot carry: decimal digits, optional minus. */
export const ExactInteger = Type.Object({
  $int: Type.String({ pattern: '^-?[0-9]{1,78}$', 'x-rule': 'a decimal integer of at most 78 digits' }),
})
/** A decimal of up to 46 digits before and 30 after the point. */
export const ExactDecimal = Type.Object({
  $decimal: Type.String({
    pattern: '^-?[0-9]{1,46}(\\.[0-9]{1,30})?$',
    'x-rule': 'a decimal number of at most 46 digits before and 30 behind the point',
  }),
})
/** An instant, RFC 3339, up to microseconds. */
export const ExactTime = Type.Object({ $time: Type.String({ maxLength: 40 }) })

/**
 * Where a record comes from (IN-1). One of `timestampMicros` and `time` is required.
 * `blockNumber` is 0 and `chain` empty for data that has no chain.
 */
const place = {
  chain: Type.Optional(
    Type.String({ maxLength: 64, description: 'Chain id, e.g. "1" or "solana_mainnet".' }),
  ),
  blockNumber: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  timestampMicros: Type.Optional(
    Type.Integer({ description: 'Time of the block or event, microseconds since 1970 UTC.' }),
  ),
  time: Type.Optional(
    Type.String({ maxLength: 40, description: 'The same as RFC 3339, instead of timestampMicros.' }),
  ),
  blockHash: Type.Optional(Type.String({ maxLength: 128 })),
  transactionHash: Type.Optional(Type.String({ maxLength: 128 })),
  transactionIndex: Type.Optional(Type.Integer({ minimum: 0, maximum: 0xffffffff })),
  logIndex: Type.Optional(Type.Integer({ minimum: 0, maximum: 0xffffffff })),
  contract: Type.Optional(Type.String({ maxLength: 512, description: 'Name of the contract.' })),
  address: Type.Optional(Type.String({ maxLength: 128, description: 'Address of the contract.' })),
}

const metric = {
  name: Type.String({ minLength: 1, maxLength: 512 }),
  labels: Type.Optional(Type.Record(Type.String(), Type.String())),
}
const metricValue = Type.Union([Type.Number(), ExactInteger, ExactDecimal])

/** Adds `value` (a delta, may be negative) to a counter. */
export const CounterRecord = Type.Object({
  type: Type.Literal('counter'),
  ...metric,
  value: metricValue,
  ...place,
})
/** Sets a gauge to `value`. */
export const GaugeRecord = Type.Object({
  type: Type.Literal('gauge'),
  ...metric,
  value: metricValue,
  ...place,
})
/** Says what the numbers of a metric are; the latest record of a name holds. It is no sample and has no place. */
export const MetricRecord = Type.Object({
  type: Type.Literal('metric'),
  name: metric.name,
  unit: Type.Optional(Type.String({ maxLength: 64, description: 'E.g. "ETH", "s", "By".' })),
  help: Type.Optional(Type.String({ maxLength: 1024, description: 'What is measured, for people.' })),
})
/** Appends a row to the event log `name`. */
export const EventRecord = Type.Object({
  type: Type.Literal('event'),
  name: Type.String({ minLength: 1, maxLength: 512 }),
  distinctId: Type.Optional(Type.String({ maxLength: 1024 })),
  severity: Type.Optional(Type.String({ maxLength: 32 })),
  message: Type.Optional(Type.String({ maxLength: 65536 })),
  attributes: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  ...place,
})
const entity = {
  name: Type.String({ minLength: 1, maxLength: 512, description: 'Of the entity, e.g. "Account".' }),
  id: Type.String({
    minLength: 1,
    maxLength: 1024,
    description: 'Tells the entity from others of its name and chain.',
  }),
}
/** Sets the whole state of an entity from its place on; attributes that are left out become null. */
export const UpsertRecord = Type.Object({
  type: Type.Literal('upsert'),
  ...entity,
  attributes: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  ...place,
})
/** Ends an entity at its place. */
export const DeleteRecord = Type.Object({ type: Type.Literal('delete'), ...entity, ...place })
/**
 * Sends `data` to the webhook channel `channel` (interface 2.8). `data` is forwarded byte for byte.
 * `position` is the place of the export among those of its block and channel (EV-1); absent: order of arrival.
 */
export const ExportRecord = Type.Object({
  type: Type.Literal('export'),
  name: Type.String({ minLength: 1, maxLength: 512 }),
  channel: Type.String({ minLength: 1, maxLength: 512 }),
  data: Type.Unknown(),
  position: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 40 })),
  ...place,
})

/** One line of an NDJSON body, or one element of `records`. */
export const IngestRecord = Type.Union([
  CounterRecord,
  GaugeRecord,
  MetricRecord,
  EventRecord,
  UpsertRecord,
  DeleteRecord,
  ExportRecord,
])
export type IngestRecord = Type.Static<typeof IngestRecord>

/** Body of `POST …/ingest/{owner}/{project}/batch`. As NDJSON the records are the lines and the rest are query parameters. */
export const IngestBatch = Type.Object({
  batchId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'A repeated batch id changes nothing and answers as before (IN-2).',
    }),
  ),
  version: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Processor version; absent or 0 is the active one.' }),
  ),
  records: Type.Array(Type.Unknown(), { maxItems: 100_000 }),
})

/** Query parameters of the batch route; they win over the same fields of a JSON body. The batch id may also be the header `batch-id`. */
export const IngestQuery = Type.Object({
  batchId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  version: Type.Optional(Type.Integer({ minimum: 0 })),
})

/** Answer of an accepted batch. */
export const IngestAnswer = Type.Object({
  batchId: Type.String(),
  version: Type.Integer(),
  accepted: Type.Integer({ description: 'Number of records.' }),
  isRepeated: Type.Boolean({ description: 'True when the batch had been accepted before.' }),
  warnings: Type.Array(Type.String()),
})
export type IngestAnswer = Type.Static<typeof IngestAnswer>

/** Body of `POST …/ingest/{owner}/{project}/rollback` (IN-3): removes every record of `chain` above `blockNumber`. */
export const RollbackRequest = Type.Object({
  chain: Type.String({ maxLength: 64 }),
  blockNumber: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  version: Type.Optional(Type.Integer({ minimum: 0 })),
})
export type RollbackRequest = Type.Static<typeof RollbackRequest>

/** Answer of a rollback. */
export const RollbackAnswer = Type.Object({
  version: Type.Integer(),
  withdrawnExports: Type.Integer({ description: 'Pending webhook messages that will not be sent.' }),
})
export type RollbackAnswer = Type.Static<typeof RollbackAnswer>
