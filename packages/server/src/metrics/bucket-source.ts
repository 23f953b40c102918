import type { Snapshot } from '../cache/snapshot.ts'
import { SUM_PARTS } from './exact-sum.ts'
import type { LabelMatcher } from './label-matcher.ts'
import type { Labels } from './labels.ts'
import type { CellStatistic, MetricType } from './series-source.ts'

/** A series as stored. `id` is decimal digits of 64 bits. */
export interface StoredSeries {
  readonly id: string
  readonly type: MetricType
  readonly labels: Labels
}

/** One metric of one processor version. */
export interface MetricAddress {
  readonly projectId: number
  readonly version: number
  readonly metric: string
}

/** A stretch of time `[fromMicros, toMicros)`. */
export interface Stretch {
  readonly fromMicros: number
  readonly toMicros: number
}

/**
 * What to read of a metric in buckets of `bucketMicros`, counted from `EARLIEST_MS`: for each series and bucket the samples on its very
 * first microsecond, and those after it. Statistics of a counter are of its deltas: `change` is their sum, `rise` that of the positive ones.
 */
export interface BucketOrder {
  readonly address: MetricAddress
  readonly type: MetricType
  /** The ids of the series to read; null is all of the metric. */
  readonly ids: readonly string[] | null
  readonly bucketMicros: number
  readonly statistics: readonly CellStatistic[]
  /** They begin and end on buckets. */
  readonly stretches: readonly Stretch[]
  /** What is to be left out; it matters from the beginning of a UTC day on. */
  readonly snapshot: Snapshot | null
}

/** Which values to read: of each series the last one in `[fromMicros, beforeMicros)`, both full hours; without a beginning where that is null. */
export interface ValueOrder {
  readonly address: MetricAddress
  readonly type: MetricType
  readonly ids: readonly string[] | null
  readonly fromMicros: number | null
  readonly beforeMicros: number
}

/** Statistics of buckets that come as `SUM_PARTS` numbers, so that buckets can be added up exactly. */
const SUMS: ReadonlySet<CellStatistic> = new Set(['sum', 'change', 'rise'])

/** Of each number of a row, which part of its statistic it is: 0 of the statistic itself, or how many parts of a sum come before it. */
export function partsOf(statistics: readonly CellStatistic[]): readonly number[] {
  return statistics.flatMap((each) =>
    SUMS.has(each) ? Array.from({ length: SUM_PARTS }, (_, part) => part) : [0],
  )
}

/**
 * Takes one row: the halves of the series' id; twice the number of the bucket, and one more for the samples after its first microsecond; how
 * many samples; the numbers of their statistics from `at` on in `numbers`, while the call lasts.
 */
export type OnBucketRow = (
  high: number,
  low: number,
  key: number,
  count: number,
  numbers: Float64Array,
  at: number,
) => void

/** Where buckets come from. An edge implements it. */
export interface BucketSource {
  /** All series of the metric by ascending id; none where nothing was ever ingested. */
  series(address: MetricAddress, signal: AbortSignal): Promise<readonly StoredSeries[]>
  /** The ids of those that match; throws `invalid_argument` for an expression that is none (MQ-4). */
  matching(
    address: MetricAddress,
    matchers: readonly LabelMatcher[],
    signal: AbortSignal,
  ): Promise<readonly string[]>
  /** Samples that are no numbers are left out, and so are rows without samples. */
  buckets(order: BucketOrder, onRow: OnBucketRow, signal: AbortSignal): Promise<void>
  /** How many series the metric has. */
  countSeries(address: MetricAddress, signal: AbortSignal): Promise<number>
  /** A gauge's last value in a stretch, or the parts of the sum of a counter's deltas. */
  values(order: ValueOrder, onRow: OnBucketRow, signal: AbortSignal): Promise<void>
}
