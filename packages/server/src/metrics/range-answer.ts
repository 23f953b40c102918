import type { GridSeries } from './grid-series.ts'
import type { Labels } from './labels.ts'
import { fillTemplate, labelKey, seriesExpression } from './labels.ts'
import type { Pace } from './pace.ts'
import type { Grid } from './time-range.ts'

/**
 * What a range query answers, as JSON and rows of numbers so that it can be cached. `values` stand for the timestamps at the same
 * places; NaN is no point.
 */
export interface RangeAnswer {
  readonly timestampsSeconds: Float64Array
  readonly stepSeconds: number
  readonly isAdjusted: boolean
  readonly timezone: string
  readonly results: readonly RangeResult[]
  readonly warnings: readonly string[]
}

/** Where a result comes from. */
export type ResultSource = 'METRICS' | 'EVENTS' | 'FORMULA'

/** The result of one query or formula; `error` is null when it has one. */
export interface RangeResult {
  readonly dataSource: ResultSource
  readonly id: string | null
  readonly alias: string | null
  readonly error: string | null
  readonly series: readonly AnswerSeries[]
  /** How many series there were before the limit. */
  readonly totalSeries: number
}

/** One series of a result. */
export interface AnswerSeries {
  readonly name: string
  readonly labels: Labels
  readonly displayName: string
  readonly values: Float64Array
}

/** The part of an answer that the grid alone decides. */
export function describeGrid(grid: Grid): Omit<RangeAnswer, 'results' | 'warnings'> {
  return {
    timestampsSeconds: grid.points,
    stepSeconds: grid.stepSeconds,
    isAdjusted: grid.isAdjusted,
    timezone: grid.zone.name,
  }
}

/** How many series of each result are shown (MQ-7). */
export interface SeriesLimit {
  readonly samplesLimit: number
  readonly samplesOffset: number
  /** Is the limit the default or the most that is allowed, rather than a wish? */
  readonly isOurs: boolean
}

const DEFAULT_SERIES = 1000
const MAX_SERIES = 10_000

/** Reads a limit as asked for; absent or 0 is the default. */
export function seriesLimit(limit: number | undefined, offset: number | undefined): SeriesLimit {
  const samplesLimit = Math.min(limit || DEFAULT_SERIES, MAX_SERIES)
  const isOurs = samplesLimit === DEFAULT_SERIES || samplesLimit === MAX_SERIES
  return { samplesLimit, samplesOffset: offset ?? 0, isOurs }
}

/** Orders series by last value, largest first, then labels, and keeps a page of them (MQ-7). */
export async function limitSeries(
  series: readonly GridSeries[],
  name: string,
  alias: string | null,
  { samplesLimit, samplesOffset }: SeriesLimit,
  pace: Pace,
): Promise<Pick<RangeResult, 'series' | 'totalSeries'>> {
  const ordered = series
    .map((each) => ({ each, last: lastValue(each), key: null as string | null }))
    .toSorted((a, b) => b.last - a.last || (keyOf(a) < keyOf(b) ? -1 : 1))
  const kept: AnswerSeries[] = []
  for (const { each } of ordered.slice(samplesOffset, samplesOffset + samplesLimit)) {
    const { labels, values } = each
    kept.push({
      name,
      labels,
      displayName: alias ? fillTemplate(alias, labels) : seriesExpression(name, labels),
      values: ownValues(values),
    })
    await pace.turn()
  }
  return { totalSeries: series.length, series: kept }
}

/**
 * In memory that holds nothing else, and written in one way only: there are many numbers that are none, and two zeros. Whoever else has the
 * same row means the same by it.
 */
function ownValues(values: Float64Array): Float64Array {
  const own = values.byteLength === values.buffer.byteLength ? values : new Float64Array(values.length)
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] ?? Number.NaN
    own[i] = Number.isNaN(value) ? Number.NaN : value + 0
  }
  return own
}

/** Made where two series end on the same value, which is seldom, and once. */
function keyOf(ordered: { readonly each: GridSeries; key: string | null }): string {
  ordered.key ??= labelKey(ordered.each.labels)
  return ordered.key
}

function lastValue({ values }: GridSeries): number {
  return values.findLast((value) => !Number.isNaN(value)) ?? -Infinity
}
