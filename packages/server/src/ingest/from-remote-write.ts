import { decodeProtobuf, type ProtobufFields } from './decode-protobuf.ts'
import { foreignLabels } from './foreign-labels.ts'
import { createMetadataRecords } from './metadata-records.ts'
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
  3: [
    'metadata',
    {
      isRepeated: true,
      message: () => ({
        1: ['type', 'int32'],
        2: ['family', 'string'],
        4: ['help', 'string'],
        5: ['unit', 'string'],
      }),
    },
  ],
}

interface TimeSeries {
  readonly labels?: readonly { readonly name?: string; readonly value?: string }[]
  readonly samples?: readonly { readonly value?: number; readonly timestamp?: bigint }[]
  readonly histograms?: readonly unknown[]
}

interface FamilyMetadata {
  readonly type?: number
  readonly family?: string
  readonly help?: string
  readonly unit?: string
}

/** The series of a family by its type, and which of them are numbers of values, whatever their unit. */
const FAMILY_SERIES: Readonly<Record<number, readonly (readonly [suffix: string, isCount: boolean])[]>> = {
  // A counter, whose family OpenMetrics calls without the end of its name.
  1: [
    ['', false],
    ['_total', false],
  ],
  // A histogram, and one of gauges.
  3: [
    ['_bucket', true],
    ['_count', true],
    ['_sum', false],
  ],
  4: [
    ['_bucket', true],
    ['_gcount', true],
    ['_gsum', false],
  ],
  // A summary.
  5: [
    ['', false],
    ['_count', true],
    ['_sum', false],
  ],
  // Information, with the value 1.
  6: [['_info', true]],
}
const ONE_SERIES = [['', false]] as const

/**
 * Translates a write request. Samples of remote write 1.0 say nothing of their type and hold values, not deltas, so all become gauges, of which
 * `increase` and `rate` ask as well. NaN, which marks the end of a series, and the infinities are no points (MQ-2) and are left out.
 * What the request says of families of metrics becomes the metadata of their series.
 */
export function fromRemoteWrite(message: Uint8Array): Translation {
  const { timeseries = [], metadata = [] } = decodeProtobuf(WriteRequest, message) as {
    readonly timeseries?: readonly TimeSeries[]
    readonly metadata?: readonly FamilyMetadata[]
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
  const families = createMetadataRecords()
  for (const { type = 0, family = '', help, unit } of metadata) {
    for (const [suffix, isCount] of FAMILY_SERIES[type] ?? ONE_SERIES) {
      const isFull = suffix !== '' && family.endsWith(suffix)
      if (family !== '' && !isFull) families.add(`${family}${suffix}`, isCount ? '' : unit, help)
    }
  }
  return { records: [...records, ...families.records()], rejected }
}
