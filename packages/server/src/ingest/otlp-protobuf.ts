import type { ProtobufFields, ProtobufMessage } from './decode-protobuf.ts'

/** The protobuf messages of OTLP 1.x, fields by number; names are those of its JSON form, which the translation reads. */

const many = (message: () => ProtobufFields): ProtobufMessage => ({ message, isRepeated: true })
const one = (message: () => ProtobufFields): ProtobufMessage => ({ message })

const AnyValue: ProtobufFields = {
  1: ['stringValue', 'string'],
  2: ['boolValue', 'bool'],
  3: ['intValue', 'int64'],
  4: ['doubleValue', 'double'],
  5: ['arrayValue', one(() => ({ 1: ['values', many(() => AnyValue)] }))],
  6: ['kvlistValue', one(() => ({ 1: ['values', many(() => KeyValue)] }))],
  7: ['bytesValue', 'bytes'],
}
const KeyValue: ProtobufFields = { 1: ['key', 'string'], 2: ['value', one(() => AnyValue)] }
const Resource: ProtobufFields = { 1: ['attributes', many(() => KeyValue)] }

const NumberDataPoint: ProtobufFields = {
  3: ['timeUnixNano', 'fixed64'],
  4: ['asDouble', 'double'],
  6: ['asInt', 'sfixed64'],
  7: ['attributes', many(() => KeyValue)],
  8: ['flags', 'uint32'],
}
const HistogramDataPoint: ProtobufFields = {
  3: ['timeUnixNano', 'fixed64'],
  4: ['count', 'fixed64'],
  5: ['sum', 'double'],
  6: ['bucketCounts', 'repeated-fixed64'],
  7: ['explicitBounds', 'repeated-double'],
  9: ['attributes', many(() => KeyValue)],
  10: ['flags', 'uint32'],
}
const Buckets: ProtobufFields = { 1: ['offset', 'sint32'], 2: ['bucketCounts', 'repeated-uint64'] }
const ExponentialHistogramDataPoint: ProtobufFields = {
  1: ['attributes', many(() => KeyValue)],
  3: ['timeUnixNano', 'fixed64'],
  4: ['count', 'fixed64'],
  5: ['sum', 'double'],
  6: ['scale', 'sint32'],
  7: ['zeroCount', 'fixed64'],
  8: ['positive', one(() => Buckets)],
  9: ['negative', one(() => Buckets)],
  10: ['flags', 'uint32'],
  14: ['zeroThreshold', 'double'],
}
const SummaryDataPoint: ProtobufFields = {
  3: ['timeUnixNano', 'fixed64'],
  4: ['count', 'fixed64'],
  5: ['sum', 'double'],
  6: ['quantileValues', many(() => ({ 1: ['quantile', 'double'], 2: ['value', 'double'] }))],
  7: ['attributes', many(() => KeyValue)],
  8: ['flags', 'uint32'],
}
const points = (message: ProtobufFields): ProtobufFields => ({
  1: ['dataPoints', many(() => message)],
  2: ['aggregationTemporality', 'int32'],
  3: ['isMonotonic', 'bool'],
})
const Metric: ProtobufFields = {
  1: ['name', 'string'],
  2: ['description', 'string'],
  3: ['unit', 'string'],
  5: ['gauge', one(() => points(NumberDataPoint))],
  7: ['sum', one(() => points(NumberDataPoint))],
  9: ['histogram', one(() => points(HistogramDataPoint))],
  10: ['exponentialHistogram', one(() => points(ExponentialHistogramDataPoint))],
  11: ['summary', one(() => points(SummaryDataPoint))],
}

/** `ExportMetricsServiceRequest`. */
export const OtlpMetricsRequest: ProtobufFields = {
  1: [
    'resourceMetrics',
    many(() => ({
      1: ['resource', one(() => Resource)],
      2: ['scopeMetrics', many(() => ({ 2: ['metrics', many(() => Metric)] }))],
    })),
  ],
}

const LogRecord: ProtobufFields = {
  1: ['timeUnixNano', 'fixed64'],
  2: ['severityNumber', 'int32'],
  3: ['severityText', 'string'],
  5: ['body', one(() => AnyValue)],
  6: ['attributes', many(() => KeyValue)],
  9: ['traceId', 'bytes'],
  10: ['spanId', 'bytes'],
  11: ['observedTimeUnixNano', 'fixed64'],
  12: ['eventName', 'string'],
}

/** `ExportLogsServiceRequest`. */
export const OtlpLogsRequest: ProtobufFields = {
  1: [
    'resourceLogs',
    many(() => ({
      1: ['resource', one(() => Resource)],
      2: ['scopeLogs', many(() => ({ 2: ['logRecords', many(() => LogRecord)] }))],
    })),
  ],
}
