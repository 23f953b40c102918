import type { LabelMatcher } from './label-matcher.ts'
import type { Labels } from './labels.ts'

/** A counter's samples are deltas, a gauge's are values (MQ-3). */
export type MetricType = 'counter' | 'gauge'

/**
 * What can be known of the values in a cell, the values of a counter being running totals (MQ-3). `count` of the
 * samples is always known. `first` and `last` go by (time, block number, ordinal). `change` is last value minus the one
 * before the cell, `rise` the sum of the positive changes between consecutive values, both inside the cell alone:
 * from its first value for a gauge, from the total before it for a counter. `squares` is the sum of the squared
 * distances from the cell's mean. `lastAt` is the time of `last` in microseconds since 1970; `previous` and `previousAt` are the
 * value and the time before that, inside the cell, with NaN for the time where there is none.
 */
export const CELL_STATISTICS = [
  'sum',
  'min',
  'max',
  'first',
  'last',
  'change',
  'rise',
  'squares',
  'lastAt',
  'previous',
  'previousAt',
] as const
export type CellStatistic = (typeof CELL_STATISTICS)[number]

/** What to read of series of one type. */
export interface CellNeeds {
  readonly statistics: readonly CellStatistic[]
  /** Does the answer depend on samples before the first edge? */
  readonly needsHistory: boolean
  /** Is every sample needed, rather than statistics? */
  readonly needsSamples: boolean
}

/**
 * What to read of a metric, as data. `edges` are ascending microseconds since 1970: cell i holds the samples in
 * `[edges[i], edges[i + 1])`, so there is a cell fewer than edges, and nothing at or after the last edge is read.
 */
export interface SeriesPlan {
  readonly projectId: number
  readonly version: number
  readonly metric: string
  readonly matchers: readonly LabelMatcher[]
  readonly edges: Float64Array
  readonly needs: Readonly<Record<MetricType, CellNeeds>>
}

/** The cells of one series. Where `count` is 0 the statistics mean nothing. */
export interface SeriesCells {
  readonly labels: Labels
  readonly type: MetricType
  /** The value just before the first cell; null when the series had not begun, or that was not asked for. */
  readonly before: number | null
  /** The time of `before` in microseconds since 1970, where `lastAt` was asked for. */
  readonly beforeAt: number | null
  readonly count: Float64Array
  readonly statistics: Readonly<Partial<Record<CellStatistic, Float64Array>>>
  /** The values of each cell in any order, where samples were asked for. */
  readonly samples: readonly (readonly number[] | undefined)[]
}

/** What was found. A metric may be known and yet have no series that match. */
export interface SeriesReading {
  readonly isKnownMetric: boolean
  /** Made as they are asked for. */
  readonly series: Iterable<SeriesCells>
}

/** Where samples come from. An edge implements it. */
export interface SeriesSource {
  read(plan: SeriesPlan, signal: AbortSignal): Promise<SeriesReading>
}
