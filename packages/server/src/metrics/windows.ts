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
  const { points, zone } = grid
  const fromMicros = new Float64Array(points.length)
  const toMicros = new Float64Array(points.length)
  for (let i = 0; i < points.length; i += 1) {
    const point = points[i] ?? 0
    const at = point * 1_000_000
    // A window that includes its right edge ends one microsecond, the resolution of sample times, after it.
    fromMicros[i] = shape.kind === 'leading' ? at : -Infinity
    toMicros[i] = at + 1
    if (shape.kind === 'trailing') {
      fromMicros[i] = addPeriod(zone, point * 1000, shape.period, -1) * 1000 + 1
    } else if (shape.kind === 'leading') {
      toMicros[i] = addPeriod(zone, point * 1000, shape.period, 1) * 1000
    }
  }
  return { fromMicros, toMicros }
}

/** All edges of the windows, ascending, each once. */
export function edgesOf(windows: Windows): Float64Array {
  const [a, b] = [ascending(windows.fromMicros), ascending(windows.toMicros)]
  const edges = new Float64Array(a.length + b.length)
  let length = 0
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const [left, right] = [a[i] ?? Infinity, b[j] ?? Infinity]
    const edge = left < right ? left : right
    if (left === edge) i += 1
    if (right === edge) j += 1
    if (!Number.isFinite(edge) || (length > 0 && edge === edges[length - 1])) continue
    edges[length] = edge
    length += 1
  }
  return edges.slice(0, length)
}

/** Most edges ascend already, and looking is far cheaper than sorting. */
function ascending(values: Float64Array): Float64Array {
  for (let i = 1; i < values.length; i += 1) {
    if ((values[i] ?? 0) < (values[i - 1] ?? 0)) return values.toSorted()
  }
  return values
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
  const first = new Int32Array(fromMicros.length)
  const end = new Int32Array(fromMicros.length)
  const seconds = new Float64Array(fromMicros.length)
  const [begins, ends] = [searchOnwards(edges), searchOnwards(edges)]
  let longest = 0
  for (let i = 0; i < first.length; i += 1) {
    const from = fromMicros[i] ?? 0
    const to = toMicros[i] ?? 0
    const [begin, stop] = [begins(from), ends(to)]
    first[i] = begin
    end[i] = stop
    seconds[i] = (to - from) / 1e6
    longest = Math.max(longest, stop - begin)
  }
  return { first, end, seconds, longest }
}

/** As `lowerBound`, for values that mostly ascend: looks on from where the last one was found. */
function searchOnwards(sorted: Float64Array): (value: number) => number {
  let at = 0
  return (value) => {
    if (at > 0 && (sorted[at - 1] ?? 0) >= value) at = lowerBound(sorted, value)
    while (at < sorted.length && (sorted[at] ?? 0) < value) at += 1
    return at
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
