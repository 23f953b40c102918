import { finiteOf } from './otlp-value.ts'

type Count = bigint | number | string

interface Buckets {
  readonly offset?: number
  readonly bucketCounts?: readonly Count[]
}

/** A point of a histogram, with bounds that are written out or that follow from a scale. */
export interface HistogramPoint {
  readonly count?: Count
  readonly sum?: number | string
  readonly bucketCounts?: readonly Count[]
  readonly explicitBounds?: readonly (number | string)[]
  readonly scale?: number
  readonly zeroCount?: Count
  readonly zeroThreshold?: number | string
  readonly positive?: Buckets
  readonly negative?: Buckets
}

/** A value that a point gives to the series whose name has this suffix and whose labels have this one too. */
export interface ValueOfSeries {
  readonly suffix: string
  readonly value: number | { readonly $int: string }
  readonly label?: readonly [string, string]
}

/**
 * A histogram as series: `_count`, `_sum`, and for every bound `le` the number of values up to it, which
 * `histogram_quantile` of other systems reads.
 */
export function histogramSeries(point: HistogramPoint): readonly ValueOfSeries[] {
  const series: ValueOfSeries[] = []
  let running = 0n
  for (const { upTo, count } of point.scale === undefined
    ? explicitBuckets(point)
    : exponentialBuckets(point)) {
    running += BigInt(count)
    series.push({ suffix: '_bucket', value: exact(running), label: ['le', upTo] })
  }
  const total = BigInt(point.count ?? 0)
  if (series.at(-1)?.label?.[1] !== '+Inf') {
    series.push({ suffix: '_bucket', value: exact(total), label: ['le', '+Inf'] })
  }
  series.push({ suffix: '_count', value: exact(total) })
  const sum = finiteOf(point.sum)
  if (sum !== null) series.push({ suffix: '_sum', value: sum })
  return series
}

interface Bucket {
  /** Upper bound. */
  readonly upTo: string
  readonly count: Count
}

function explicitBuckets({ bucketCounts = [], explicitBounds = [] }: HistogramPoint): readonly Bucket[] {
  return bucketCounts.map((count, index) => {
    const bound = explicitBounds[index]
    return { upTo: bound === undefined ? '+Inf' : String(bound), count }
  })
}

/** Bucket `i` of the positive side holds values in (base^(offset+i), base^(offset+i+1)], with base = 2^(2^-scale). */
function exponentialBuckets(point: HistogramPoint): readonly Bucket[] {
  const scale = point.scale ?? 0
  const bound = (exponent: number) => 2 ** (exponent * 2 ** -scale)
  const { offset: below = 0, bucketCounts: negative = [] } = point.negative ?? {}
  const { offset: above = 0, bucketCounts: positive = [] } = point.positive ?? {}
  return [
    ...negative.map((count, index) => ({ upTo: String(-bound(below + index)), count })).toReversed(),
    { upTo: String(finiteOf(point.zeroThreshold) ?? 0), count: point.zeroCount ?? 0 },
    ...positive.map((count, index) => ({ upTo: String(bound(above + index + 1)), count })),
  ]
}
function exact(count: bigint): { readonly $int: string } {
  return { $int: count.toString() }
}
