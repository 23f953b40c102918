import type { Grid } from './time-range.ts'
import type { Period } from './period.ts'
import { addPeriod } from './period.ts'

/**
 * The stretch of time that a function looks at for a grid point t: `carried` is everything up to t (MQ-2), `trailing`
 * is (t − d, t] (FN-1), `leading` is [t, t + d) (FN-2).
 */
export type WindowShape =
  { readonly kind: 'carried' } | { readonly kind: 'trailing' | 'leading'; readonly period: Period }

/** For each grid point the window `[from, to)` in microseconds; a carried window begins at −Infinity. */
export interface Windows {
  readonly fromMicros: Float64Array
  readonly toMicros: Float64Array
}

/** The windows of all grid points. Their edges need not ascend where clocks go back. */
export function windowsOf(shape: WindowShape, grid: Grid): Windows {
  const fromMicros = new Float64Array(grid.points.length)
  const toMicros = new Float64Array(grid.points.length)
  for (const [i, point] of grid.points.entries()) {
    const at = point * 1_000_000
    // A window that includes its right edge ends one microsecond, the resolution of sample times, after it.
    fromMicros[i] = shape.kind === 'leading' ? at : -Infinity
    toMicros[i] = at + 1
    if (shape.kind === 'trailing') {
      fromMicros[i] = addPeriod(grid.zone, point * 1000, shape.period, -1) * 1000 + 1
    } else if (shape.kind === 'leading') {
      toMicros[i] = addPeriod(grid.zone, point * 1000, shape.period, 1) * 1000
    }
  }
  return { fromMicros, toMicros }
}

/** All edges of the windows, ascending, each once. */
export function edgesOf({ fromMicros, toMicros }: Windows): Float64Array {
  const all = Float64Array.from([...fromMicros, ...toMicros].filter(Number.isFinite)).toSorted()
  return all.filter((edge, i) => i === 0 || edge !== all[i - 1])
}

/** For each window the cells `[first, end)` whose left edges lie in it; with the windows' own edges these are its whole content. */
export interface CellRanges {
  readonly first: Int32Array
  readonly end: Int32Array
  readonly seconds: Float64Array
  /** The most cells that a window has. */
  readonly longest: number
}

/** The cells of each window. */
export function cellRanges({ fromMicros, toMicros }: Windows, edges: Float64Array): CellRanges {
  const first = Int32Array.from(fromMicros, (from) => lowerBound(edges, from))
  const end = Int32Array.from(toMicros, (to) => lowerBound(edges, to))
  return {
    first,
    end,
    seconds: toMicros.map((to, i) => (to - (fromMicros[i] ?? to)) / 1e6),
    longest: end.reduce((longest, last, i) => Math.max(longest, last - (first[i] ?? 0)), 0),
  }
}

/** The index of the first element that is not below `value`. */
function lowerBound(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? Infinity) < value) low = middle + 1
    else high = middle
  }
  return low
}
