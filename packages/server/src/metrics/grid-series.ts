import type { Labels } from './labels.ts'

/** A series evaluated on the grid: one value per grid point, NaN where there is no point (MQ-2). */
export interface GridSeries {
  readonly labels: Labels
  readonly values: Float64Array
}

/** The value as a point: NaN and ±Infinity are none (MQ-2), and zero has no sign. */
export function point(value: number): number {
  return Number.isFinite(value) ? value + 0 : Number.NaN
}

/** Does the series have a point at all? */
export function hasPoints({ values }: GridSeries): boolean {
  for (let i = 0; i < values.length; i += 1) if (!Number.isNaN(values[i])) return true
  return false
}
