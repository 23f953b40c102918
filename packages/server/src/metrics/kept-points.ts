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

/** What is known of several series at some points. */
type Points = Pick<KeptPoints, 'points' | 'series'>

/**
 * All points of parts whose own points ascend; of a point that several have, the last one's values. Series are those of the last part, in its
 * order: it has seen all that there are. Null where series cannot be told apart by type and labels.
 */
export function joinPoints(parts: readonly ComputedPoints[]): Points | null {
  const last = parts.at(-1)
  if (!last) return null
  const wanted = new Map(last.series.map((each) => [keyOf(each), each]))
  if (wanted.size !== last.series.length) return null
  return parts.slice(1).reduce<Points>((joined, part) => joinTwo(joined, part, wanted), parts[0] ?? last)
}

function joinTwo(earlier: Points, later: Points, wanted: ReadonlyMap<string, ReducedSeries>): Points {
  const isBehind = (later.points[0] ?? Infinity) > (earlier.points.at(-1) ?? -Infinity)
  const points = isBehind ? appended(earlier.points, later.points) : unionOf(earlier.points, later.points)
  const join = isBehind
    ? joinBehind(earlier.points.length, later.points.length)
    : joinAmong(points, copiesOf(earlier.points, points), copiesOf(later.points, points))
  const [old, young] = [valuesByKey(earlier), valuesByKey(later)]
  const series: ReducedSeries[] = []
  for (const [key, { labels, type }] of wanted) {
    series.push({ labels, type, values: join(old.get(key), young.get(key)) })
  }
  return { points, series }
}

type Join = (before: Float64Array | undefined, after: Float64Array | undefined) => Float64Array

function joinBehind(earlier: number, later: number): Join {
  return (before = missing(earlier), after = missing(later)) => appended(before, after)
}

function joinAmong(points: Float64Array, old: readonly Copy[], young: readonly Copy[]): Join {
  return (before, after) => {
    const all = missing(points.length)
    if (before) copy(before, all, old)
    if (after) copy(after, all, young)
    return all
  }
}

function missing(length: number): Float64Array {
  return new Float64Array(length).fill(Number.NaN)
}

function valuesByKey({ series }: Points): ReadonlyMap<string, Float64Array> {
  return new Map(series.map((each) => [keyOf(each), each.values]))
}

/** The series with their values at some of the points that they have. */
export function pickPoints(points: Float64Array, { points: held, series }: Points): readonly ReducedSeries[] {
  const first = held.indexOf(points[0] ?? Number.NaN)
  const end = first + points.length
  if (first >= 0 && points.every((point, index) => held[first + index] === point)) {
    return series.map(({ labels, type, values }) => ({ labels, type, values: values.subarray(first, end) }))
  }
  const copies = copiesOf(held, points)
  return series.map(({ labels, type, values }) => {
    const picked = missing(points.length)
    copy(values, picked, copies)
    return { labels, type, values: picked }
  })
}

/** The newest of kept points. */
export function newestPoints<Kept extends Points>(kept: Kept, pointsMax: number): Kept {
  if (kept.points.length <= pointsMax) return kept
  return {
    ...kept,
    points: kept.points.subarray(-pointsMax),
    series: kept.series.map((each) => ({ ...each, values: each.values.subarray(-pointsMax) })),
  }
}

/** Where the numbers of buffers with room behind them end: whatever ends there may go on there. */
const ends = new WeakMap<ArrayBufferLike, number>()
const ROOM_PART = 8

/** One row of numbers behind another, which stays as it is; what slides point by point is seldom copied. */
function appended(values: Float64Array, more: Float64Array): Float64Array {
  const length = values.length + more.length
  const end = values.byteOffset / Float64Array.BYTES_PER_ELEMENT + values.length
  const whole = new Float64Array(values.buffer)
  if (ends.get(values.buffer) === end && end + more.length <= whole.length) {
    whole.set(more, end)
    ends.set(values.buffer, end + more.length)
    return new Float64Array(values.buffer, values.byteOffset, length)
  }
  const roomy = new Float64Array(length + Math.ceil(length / ROOM_PART))
  roomy.set(values)
  roomy.set(more, values.length)
  ends.set(roomy.buffer, length)
  return roomy.subarray(0, length)
}

/** The union of ascending points, each once. */
function unionOf(a: Float64Array, b: Float64Array): Float64Array {
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
export function bytesOf({ points, series }: Points): number {
  return series.reduce(
    (bytes, { values }) => bytes + values.buffer.byteLength + SERIES_BYTES,
    points.buffer.byteLength,
  )
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

function copy(source: Float64Array, target: Float64Array, copies: readonly Copy[]): void {
  for (const { from, end, to } of copies) target.set(source.subarray(from, end), to)
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
