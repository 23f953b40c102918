import { labelKey } from './labels.ts'
import type { ReducedSeries, Reduction } from './reduce-query.ts'
import type { ReadingReport } from './series-source.ts'

/** Values at grid points of one kind of query, and the number of changes of the data that they include. */
export interface KeptPoints {
  /** Epoch seconds, ascending. */
  readonly points: Float64Array
  readonly series: readonly ReducedSeries[]
  readonly report: ReadingReport
  readonly dataVersion: number
}

/** What was computed at some points. */
export interface ComputedPoints extends Pick<Reduction, 'series' | 'report'> {
  readonly points: Float64Array
}

/** Neighbouring points missing of a grid, `[first, end)`. */
export interface MissingRun {
  readonly first: number
  readonly end: number
}

/** Runs of `points` that `isKnown` does not have; at most `runsMax`, the last of which then spans what others would. */
export function missingRuns(
  points: Float64Array,
  isKnown: (point: number) => boolean,
  runsMax: number,
): MissingRun[] {
  const runs: MissingRun[] = []
  for (let index = 0; index < points.length; index += 1) {
    if (isKnown(points[index] ?? 0)) continue
    const last = runs.at(-1)
    if (last && (last.end === index || runs.length === runsMax))
      runs[runs.length - 1] = { ...last, end: index + 1 }
    else runs.push({ first: index, end: index + 1 })
  }
  return runs
}

/** The kept points whose places `holds` confirms. */
export function keepWhere(
  { points, series, ...rest }: KeptPoints,
  holds: (index: number) => boolean,
): KeptPoints {
  const held = Uint8Array.from(points, (_, index) => (holds(index) ? 1 : 0))
  if (!held.includes(0)) return { points, series, ...rest }
  const pick = (values: Float64Array) => values.filter((_, index) => held[index])
  return {
    ...rest,
    points: pick(points),
    series: series.map((each) => ({ ...each, values: pick(each.values) })),
  }
}

/**
 * The values at `points`, from parts that have all of them between them; of a point that several have, the last one's. Series
 * are those of the last part, in its order: it has seen all that there are. Null where series cannot be told apart by type and labels.
 */
export function joinPoints(
  points: Float64Array,
  parts: readonly ComputedPoints[],
): readonly ReducedSeries[] | null {
  const last = parts.at(-1)
  if (!last) return null
  const joined = new Map<string, ReducedSeries>()
  for (const { labels, type } of last.series) {
    const values = new Float64Array(points.length).fill(Number.NaN)
    joined.set(keyOf({ labels, type }), { labels, type, values })
  }
  if (joined.size !== last.series.length) return null
  for (const part of parts) {
    const copies = copiesOf(part.points, points)
    for (const each of part.series) {
      const target = joined.get(keyOf(each))
      if (!target) continue
      for (const { from, end, to } of copies) target.values.set(each.values.subarray(from, end), to)
    }
  }
  return [...joined.values()]
}

/** The union of ascending points, each once. */
export function unionOf(a: Float64Array, b: Float64Array): Float64Array {
  const union = new Float64Array(a.length + b.length)
  let [length, i, j] = [0, 0, 0]
  while (i < a.length || j < b.length) {
    const [next, other] = [a[i] ?? Infinity, b[j] ?? Infinity]
    if (next <= other) i += 1
    if (other <= next) j += 1
    union[length++] = Math.min(next, other)
  }
  return union.slice(0, length)
}

/** Tells of points, asked in ascending order, whether they are among ascending ones. */
export function membership(points: Float64Array): (point: number) => boolean {
  let at = 0
  return (point) => {
    while (at < points.length && (points[at] ?? 0) < point) at += 1
    return points[at] === point
  }
}

/** About the bytes that kept points take. */
export function bytesOf({ points, series }: Pick<KeptPoints, 'points' | 'series'>): number {
  return 8 * points.length * (series.length + 1) + SERIES_BYTES * series.length
}

const SERIES_BYTES = 300

interface Copy {
  readonly from: number
  readonly end: number
  readonly to: number
}

/** Stretches of `source` that are stretches of `target` too. */
function copiesOf(source: Float64Array, target: Float64Array): Copy[] {
  const copies: Copy[] = []
  let to = 0
  for (let from = 0; from < source.length; from += 1) {
    const point = source[from] ?? 0
    while (to < target.length && (target[to] ?? 0) < point) to += 1
    if (target[to] !== point) continue
    const last = copies.at(-1)
    if (last && last.end === from && last.to + (last.end - last.from) === to)
      copies[copies.length - 1] = { ...last, end: from + 1 }
    else copies.push({ from, end: from + 1, to })
  }
  return copies
}

const keys = new WeakMap<object, string>()

/** Labels are the same object as long as their series is kept. */
function keyOf({ labels, type }: Pick<ReducedSeries, 'labels' | 'type'>): string {
  const known = keys.get(labels)
  if (known !== undefined) return known
  const key = `${type} ${labelKey(labels)}`
  keys.set(labels, key)
  return key
}
