import { decodeProtobuf, type ProtobufFields } from './decode-protobuf.ts'
import { foreignLabels } from './foreign-labels.ts'
import type { Translation } from './translation.ts'

/** `prometheus.WriteRequest` of remote write 1.0. */
const WriteRequest: ProtobufFields = {
  1: [
    'timeseries',
    {
      isRepeated: true,
      message: () => ({
        1: [
          'labels',
          { isRepeated: true, message: () => ({ 1: ['name', 'string'], 2: ['value', 'string'] }) },
        ],
        2: [
          'samples',
          { isRepeated: true, message: () => ({ 1: ['value', 'double'], 2: ['timestamp', 'int64'] }) },
        ],
        4: ['histograms', { isRepeated: true, message: () => ({}) }],
      }),
    },
  ],
}

interface TimeSeries {
  readonly labels?: readonly { readonly name?: string; readonly value?: string }[]
  readonly samples?: readonly { readonly value?: number; readonly timestamp?: bigint }[]
  readonly histograms?: readonly unknown[]
}

/**
 * Translates a write request. Samples of remote write 1.0 say nothing of their type and hold values, not deltas, so all become gauges, of which
 * `increase` and `rate` ask as well. NaN, which marks the end of a series, and the infinities are no points (MQ-2) and are left out.
 */
export function fromRemoteWrite(message: Uint8Array): Translation {
  const { timeseries = [] } = decodeProtobuf(WriteRequest, message) as {
    readonly timeseries?: readonly TimeSeries[]
  }
  const records: object[] = []
  const rejected: string[] = []
  for (const { labels: given = [], samples = [], histograms = [] } of timeseries) {
    const metric = given.find(({ name }) => name === '__name__')?.value ?? ''
    const entries = given.flatMap(({ name = '', value = '' }) =>
      name === '__name__' ? [] : [[name, value] as const],
    )
    const { labels, place } = foreignLabels(entries)
    if (histograms.length > 0) rejected.push(`"${metric}" has native histograms, which are not taken`)
    for (const { value = 0, timestamp = 0n } of samples) {
      if (!Number.isFinite(value)) continue
      const timestampMicros = Number(timestamp) * 1000
      records.push({ type: 'gauge', name: metric, value, labels, timestampMicros, ...place })
    }
  }
  return { records, rejected }
}
