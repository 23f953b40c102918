import { foreignLabels } from './foreign-labels.ts'
import { histogramSeries, type HistogramPoint, type ValueOfSeries } from './from-otlp-histogram.ts'
import { createMetadataRecords } from './metadata-records.ts'
import { finiteOf, microsOf, textOf, type KeyValue } from './otlp-value.ts'
import type { Translation } from './translation.ts'

interface Point extends HistogramPoint {
  readonly timeUnixNano?: bigint | number | string
  readonly attributes?: readonly KeyValue[]
  readonly flags?: number
  readonly asInt?: bigint | number | string
  readonly asDouble?: number | string
  readonly quantileValues?: readonly {
    readonly quantile?: number | string
    readonly value?: number | string
  }[]
}

interface Points {
  readonly dataPoints?: readonly Point[]
  readonly aggregationTemporality?: number | string
}

interface Metric {
  readonly name?: string
  readonly description?: string
  readonly unit?: string
  readonly gauge?: Points
  readonly sum?: Points
  readonly histogram?: Points
  readonly exponentialHistogram?: Points
  readonly summary?: Points
}

/** `ExportMetricsServiceRequest`, as far as it is read. */
interface OtlpMetrics {
  readonly resourceMetrics?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] }
    readonly scopeMetrics?: readonly { readonly metrics?: readonly Metric[] }[]
  }[]
}

const NO_RECORDED_VALUE = 1
/** What of a histogram or summary is a number of values, whatever their unit. */
const COUNTS: ReadonlySet<string> = new Set(['_bucket', '_count'])

/**
 * Translates metrics of OpenTelemetry. What is sent as deltas becomes counters; gauges and cumulative sums, which are values already, become
 * gauges, of which `increase` and `rate` ask as well. Histograms and summaries become the series `_bucket`, `_count`, `_sum` and `quantile` that
 * Prometheus knows them by. Labels are the attributes of the resource and of the point, which wins.
 * Unit and description become those of the metric.
 */
export function fromOtlpMetrics(request: OtlpMetrics): Translation {
  const records: object[] = []
  const points: number[] = []
  let pointCount = 0
  const metadata = createMetadataRecords()
  const rejected: string[] = []
  for (const { resource, scopeMetrics } of request.resourceMetrics ?? []) {
    const shared = entriesOf(resource?.attributes)
    for (const metric of (scopeMetrics ?? []).flatMap((scope) => scope.metrics ?? [])) {
      const data = pointsOf(metric)
      if (!data) {
        rejected.push(`metric "${metric.name ?? ''}" has no data of a known kind`)
        continue
      }
      const type = isDelta(data) ? 'counter' : 'gauge'
      for (const point of data.dataPoints ?? []) {
        if (((point.flags ?? 0) & NO_RECORDED_VALUE) !== 0) continue
        const timestampMicros = microsOf(point.timeUnixNano)
        if (timestampMicros === undefined) {
          rejected.push(`a point of metric "${metric.name ?? ''}" has no timeUnixNano`)
          continue
        }
        for (const { suffix, value, label } of valuesOf(metric, point)) {
          const own = label ? [...entriesOf(point.attributes), label] : entriesOf(point.attributes)
          const { labels, place } = foreignLabels([...shared, ...own])
          const name = `${metric.name ?? ''}${suffix}`
          metadata.add(name, COUNTS.has(suffix) ? '' : metric.unit, metric.description)
          records.push({
            type,
            name,
            value,
            labels,
            timestampMicros,
            ...place,
          })
          points.push(pointCount)
        }
        pointCount++
      }
    }
  }
  for (const record of metadata.records()) {
    records.push(record)
    points.push(pointCount++)
  }
  return { records, points, rejected }
}

function pointsOf(metric: Metric): Points | undefined {
  return metric.gauge ?? metric.sum ?? metric.histogram ?? metric.exponentialHistogram ?? metric.summary
}

function isDelta({ aggregationTemporality: temporality }: Points): boolean {
  return temporality === 1 || temporality === 'AGGREGATION_TEMPORALITY_DELTA'
}

/** NaN and the infinities are no points (MQ-2): they are left out. */
function valuesOf(metric: Metric, point: Point): readonly ValueOfSeries[] {
  if (metric.histogram || metric.exponentialHistogram) return histogramSeries(point)
  if (metric.summary) return summarySeries(point)
  if (point.asInt !== undefined) return [{ suffix: '', value: { $int: String(point.asInt) } }]
  const value = finiteOf(point.asDouble)
  return value === null ? [] : [{ suffix: '', value }]
}

function summarySeries({ count, sum, quantileValues }: Point): readonly ValueOfSeries[] {
  const quantiles = (quantileValues ?? []).flatMap((each): readonly ValueOfSeries[] => {
    const value = finiteOf(each.value ?? 0)
    return value === null ? [] : [{ suffix: '', value, label: ['quantile', String(each.quantile ?? 0)] }]
  })
  const total = finiteOf(sum ?? 0)
  return [
    ...quantiles,
    { suffix: '_count', value: { $int: String(count ?? 0) } },
    ...(total === null ? [] : [{ suffix: '_sum', value: total }]),
  ]
}

function entriesOf(attributes: readonly KeyValue[] | undefined): readonly (readonly [string, string])[] {
  return (attributes ?? []).map(({ key, value }) => [key ?? '', textOf(value)] as const)
}
