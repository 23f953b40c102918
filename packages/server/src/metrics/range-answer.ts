import type { GridSeries } from './grid-series.ts'
import type { Labels } from './labels.ts'
import { fillTemplate, labelKey, seriesExpression } from './labels.ts'
import type { Grid } from './time-range.ts'

/**
 * What a range query answers, as plain JSON so that it can be cached. `values` stand for the timestamps at the same
 * places; null is no point.
 */
export interface RangeAnswer {
  readonly timestampsSeconds: readonly number[]
  readonly stepSeconds: number
  readonly isAdjusted: boolean
  readonly timezone: string
  readonly results: readonly RangeResult[]
  readonly warnings: readonly string[]
}

/** The result of one query or formula; `error` is null when it has one. */
export interface RangeResult {
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
  readonly values: readonly (number | null)[]
}

/** The part of an answer that the grid alone decides. */
export function describeGrid(grid: Grid): Omit<RangeAnswer, 'results' | 'warnings'> {
  return {
    timestampsSeconds: [...grid.points],
    stepSeconds: grid.stepSeconds,
    isAdjusted: grid.isAdjusted,
    timezone: grid.zone.name,
  }
}

interface Limit {
  readonly samplesLimit: number
  readonly samplesOffset: number
}

/** Orders series by last value, largest first, then labels, and keeps a page of them (MQ-7). */
export function limitSeries(
  series: readonly GridSeries[],
  name: string,
  alias: string | null,
  { samplesLimit, samplesOffset }: Limit,
): Pick<RangeResult, 'series' | 'totalSeries'> {
  const keyed = series.map((each) => ({ each, last: lastValue(each), key: labelKey(each.labels) }))
  const ordered = keyed.toSorted((a, b) => b.last - a.last || (a.key < b.key ? -1 : 1))
  return {
    totalSeries: series.length,
    series: ordered
      .slice(samplesOffset, samplesOffset + samplesLimit)
      .map(({ each: { labels, values } }) => ({
        name,
        labels,
        displayName: alias ? fillTemplate(alias, labels) : seriesExpression(name, labels),
        values: Array.from(values, (value) => (Number.isNaN(value) ? null : value)),
      })),
  }
}

function lastValue({ values }: GridSeries): number {
  return values.findLast((value) => !Number.isNaN(value)) ?? -Infinity
}
