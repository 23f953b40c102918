import type { Snapshot } from '../cache/snapshot.ts'
import type { LabelMatcher } from './label-matcher.ts'
import type { Labels } from './labels.ts'

/** A counter's samples are deltas, a gauge's are values (MQ-3). */
export type MetricType = 'counter' | 'gauge'

/**
 * What can be known of the values in a cell, the values of a counter being running totals (MQ-3). Whether there are
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
  /** Is the caller to be told how much was expected to be read? Asking for it costs a little. */
  readonly isExplained: boolean
  /** The number of changes of the data that are to be seen. */
  readonly dataVersion: number
  /** Which batches are to be seen; null for all that are there. */
  readonly snapshot: Snapshot | null
}

/**
 * The cells of one series. Where `count` is 0 the statistics mean nothing; how far above 0 it is holds where `sum`, `squares` or no statistic at
 * all was asked for.
 */
export interface SeriesCells {
  readonly labels: Labels
  readonly type: MetricType
  /** The value just before the first cell; null when the series had not begun, or that was not asked for. */
  readonly before: number | null
  /** The time of `before` in microseconds since 1970, where `lastAt` was asked for. */
  readonly beforeAt: number | null
  readonly count: Float64Array
  /** True where each cell is known to hold samples; nothing follows from the opposite. */
  readonly isFull?: boolean
  readonly statistics: Readonly<Partial<Record<CellStatistic, Float64Array>>>
  /** The values of each cell in any order, where samples were asked for. */
  readonly samples: readonly (readonly number[] | undefined)[]
}

/** What a reading took. */
export interface ReadingReport {
  /** Series of the metric, and those of them that match. */
  readonly knownSeries: number
  readonly matchedSeries: number
  /** Does any series of the metric have the label? */
  hasLabel(name: string): boolean
  /** The rollups that were read, by the length of their buckets; none where samples alone were. */
  readonly rollups: readonly string[]
  /** Samples that were read one by one. */
  readonly samplesRead: number
  /** Samples that were not read because rollups stood for them; a source may leave out to count them where nothing is explained. */
  readonly samplesInRollups: number
  /** Rows that the engine expected to look at, those of samples and of rollups alike; null where it was not asked. */
  readonly estimatedRows: number | null
}

/** What was found. A metric without series is not known; one that is may yet have none that match. */
export interface SeriesReading {
  readonly report: ReadingReport
  /** Made as they are asked for. */
  readonly series: Iterable<SeriesCells>
}

/** Where samples come from. An edge implements it. */
export interface SeriesSource {
  read(plan: SeriesPlan, signal: AbortSignal): Promise<SeriesReading>
}
