import type { ExportedMessage } from '../delivery/message.ts'

/** A metric is either a sum of deltas or a course of values (MQ-3), for ever. */
export type MetricType = 'counter' | 'gauge'

/** The kinds of attribute that event logs and entities tell apart; each is one type of column. `uint` is for integers beyond 2^255 - 1. */
export const ATTRIBUTE_KINDS = [
  'string',
  'number',
  'boolean',
  'int',
  'uint',
  'decimal',
  'time',
  'json',
] as const
export type AttributeKind = (typeof ATTRIBUTE_KINDS)[number]

/** Where a record comes from (IN-1). Absent fields are empty or 0. */
export interface Place {
  readonly chain: string
  readonly blockNumber: number
  readonly timestampMicros: number
  readonly blockHash: string
  readonly transactionHash: string
  readonly transactionIndex: number
  readonly logIndex: number
  readonly contract: string
  readonly address: string
}

/** One metric with one label set. `id` is the same wherever and whenever it is computed; labels include the reserved ones. */
export interface Series {
  /** Decimal digits of an unsigned 64-bit integer. */
  readonly id: string
  /** The lower and the upper 32 bits of the id. */
  readonly idLow: number
  readonly idHigh: number
  readonly metric: string
  readonly type: MetricType
  readonly labels: Readonly<Record<string, string>>
}

/** What a sender says of a metric, for people. Empty where it says nothing. */
export interface MetricMetadata {
  readonly unit: string
  readonly help: string
}

/** A counter's delta or a gauge's value. `exact` holds the digits that `value` cannot, else it is empty (IN-6). */
export interface Sample {
  readonly series: Series
  readonly value: number
  readonly exact: string
  readonly place: Place
  /** Index in its batch. */
  readonly index: number
}

/** A value of an attribute. `json` is the JSON token that the column reads: exact digits are quoted. */
export interface Attribute {
  readonly kind: AttributeKind
  readonly json: string
}

/** A record with attributes. Those that are null are left out. */
export interface AttributeRow {
  /** Of the event log or the entity. */
  readonly name: string
  readonly place: Place
  readonly attributes: ReadonlyMap<string, Attribute>
  /** Index in its batch. */
  readonly index: number
}

/** A row of an event log. */
export interface EventRow extends AttributeRow {
  readonly distinctId: string
  readonly severity: string
  readonly message: string
}

/** A change of one entity: its whole state from this place on, or its end. The entity is told by chain, name and id. */
export interface EntityChange extends AttributeRow {
  readonly id: string
  readonly isDeleted: boolean
}

/** The records of one request, validated, by what becomes of them. */
export interface Batch {
  readonly recordCount: number
  readonly samples: readonly Sample[]
  /** The distinct series of `samples`. */
  readonly series: ReadonlySet<Series>
  /** By the name of the metric. */
  readonly metadata: ReadonlyMap<string, MetricMetadata>
  /** Event rows by the name of their log. */
  readonly events: ReadonlyMap<string, readonly EventRow[]>
  /** Changes of entities by the name of the entity. */
  readonly entities: ReadonlyMap<string, readonly EntityChange[]>
  readonly exports: readonly ExportedMessage[]
}

/** A processor version of a project: data of versions is separate (IN-4). */
export interface ProjectVersion {
  readonly projectId: number
  readonly version: number
}
