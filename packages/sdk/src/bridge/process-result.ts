/**
 * The messages that a processor of the existing SDK, versions 2.x and 3.x, answers with, as their runtime decodes them. Only what is read is
 * here; bytes may also be base64 and 64-bit integers text, as in the JSON form of the messages.
 */

/** Sign and magnitude, the highest byte first. */
export interface BigIntegerMessage {
  readonly negative?: boolean
  readonly data?: Uint8Array | string
}

/** `value` × 10^`exp`. */
export interface BigDecimalMessage {
  readonly value?: BigIntegerMessage | undefined
  readonly exp?: number
}

/** One value; exactly one member is set. */
export interface RichValue {
  readonly nullValue?: number | string | undefined
  readonly intValue?: number | undefined
  readonly int64Value?: bigint | number | string | undefined
  readonly floatValue?: number | undefined
  readonly bytesValue?: Uint8Array | string | undefined
  readonly boolValue?: boolean | undefined
  readonly stringValue?: string | undefined
  readonly timestampValue?: Date | string | undefined
  readonly bigintValue?: BigIntegerMessage | undefined
  readonly bigdecimalValue?: BigDecimalMessage | undefined
  readonly listValue?: { readonly values?: readonly RichValue[] } | undefined
  readonly structValue?: RichStruct | undefined
  readonly tokenValue?:
    { readonly token?: unknown; readonly amount?: BigDecimalMessage | undefined } | undefined
}

export interface RichStruct {
  readonly fields?: Readonly<Record<string, RichValue>>
}

/** Where a result comes from. */
export interface RecordMetadata {
  readonly address?: string
  readonly contractName?: string
  readonly blockNumber?: bigint | number | string
  readonly transactionHash?: string
  readonly chainId?: string
  readonly transactionIndex?: number
  readonly logIndex?: number
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
}

export interface MetricMessage {
  readonly metadata?: RecordMetadata | undefined
  readonly metricValue?:
    | {
        readonly bigDecimal?: string | undefined
        readonly doubleValue?: number | undefined
        readonly bigInteger?: BigIntegerMessage | undefined
      }
    | undefined
  /** Of a counter: false subtracts. */
  readonly add?: boolean
}

export interface EventMessage {
  readonly metadata?: RecordMetadata | undefined
  readonly distinctEntityId?: string
  readonly attributes?: Readonly<Record<string, unknown>> | undefined
  readonly attributes2?: RichStruct | undefined
  readonly severity?: number | string
  readonly message?: string
}

/** `type`: 0 event, 1 gauge, 2 counter. */
export interface TimeseriesMessage {
  readonly metadata?: RecordMetadata | undefined
  readonly type?: number | string
  readonly data?: RichStruct | undefined
}

export interface ExportMessage {
  readonly metadata?: RecordMetadata | undefined
  /** JSON text. */
  readonly payload?: string
}

/** `ProcessResult`. Version 3.x repeats gauges, counters and events in `timeseriesResult`, which then is the one to read. */
export interface ProcessResult {
  readonly gauges?: readonly MetricMessage[]
  readonly counters?: readonly MetricMessage[]
  readonly events?: readonly EventMessage[]
  readonly exports?: readonly ExportMessage[]
  readonly timeseriesResult?: readonly TimeseriesMessage[]
  /** Of a handler that threw, the reason. */
  readonly states?: { readonly error?: string | undefined } | undefined
}
