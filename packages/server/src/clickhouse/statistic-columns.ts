import { hasFar, type FixedPointSum } from './fixed-point.ts'
import type { ColumnKind } from './series-source-rows.ts'

/** A statistic of samples in SQL: an expression of a number, or a sum. */
export type Statistic = string | FixedPointSum

/** How the statistic comes in rows. */
export function kindOf(statistic: Statistic): ColumnKind {
  return typeof statistic === 'string' ? 'number' : 'sum'
}

/** The columns of statistics, each behind a comma: of sums what is near, or all windows. */
export function columnsSql(statistics: readonly Statistic[], withFar: boolean): string {
  return statistics
    .map((statistic) => {
      if (typeof statistic === 'string') return `, toFloat64(${statistic})`
      return [statistic.near, ...(withFar ? statistic.far : [])].map((units) => `, ${units}`).join('')
    })
    .join('')
}

/** Leaves out groups whose sums are of near numbers alone; nothing where others were not asked for. */
export function havingFar(statistics: readonly Statistic[], withFar: boolean): string {
  if (!withFar) return ''
  const conditions = statistics.flatMap((each) => (typeof each === 'string' ? [] : [hasFar(each)]))
  return `\nhaving ${conditions.join(' or ') || '0'}`
}
