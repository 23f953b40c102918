import { array, assert, boolean, integer, property, record } from 'fast-check'
import { expect, it } from 'vitest'
import {
  bytesOf,
  joinPoints,
  keepWhere,
  newestPoints,
  pickPoints,
  type ComputedPoints,
} from './kept-points.ts'

const POINTS_MAX = 30
const labels = [{ pool: 'a' }, { pool: 'b' }, { pool: 'c' }]
const report = {
  knownSeries: 3,
  matchedSeries: 3,
  hasLabel: () => true,
  rollups: [],
  samplesRead: 0,
  samplesInRollups: 0,
  estimatedRows: null,
}

/** The points `[from, to)`; a value says which reading it is of. */
function part(reading: number, from: number, to: number, hasSeries: readonly boolean[]): ComputedPoints {
  const points = Float64Array.from({ length: to - from }, (_, i) => from + i)
  const series = labels.flatMap((each, place) =>
    hasSeries[place]
      ? [
          {
            labels: each,
            type: 'gauge' as const,
            values: points.map((point) => 1000 * reading + 10 * point + place),
          },
        ]
      : [],
  )
  return { points, series, report }
}

const readings = array(
  record({
    from: integer({ min: 0, max: 40 }),
    length: integer({ min: 1, max: 12 }),
    hasSeries: array(boolean(), { minLength: 3, maxLength: 3 }),
    isBehind: boolean(),
    /** Joined with what was known before the last reading, as another question may be at the same time. */
    isBeside: boolean(),
  }),
  { maxLength: 20 },
)

it('has of each point what was read last of it, whatever else was put behind the same points meanwhile', () => {
  assert(
    property(readings, (script) => {
      let before: ComputedPoints = part(0, 0, 5, [true, true, true])
      let kept = before
      const models = new Map<ComputedPoints, Map<string, number>>([[kept, modelOf(kept)]])
      for (const [index, { from, length, hasSeries, isBehind, isBeside }] of script.entries()) {
        const base = isBeside ? before : kept
        const start = isBehind ? (base.points.at(-1) ?? 0) + 1 : from
        const read = part(index + 1, start, start + length, hasSeries)
        const joined = joinPoints([base, read])
        expect(joined?.series.map((each) => each.labels)).toEqual(read.series.map((each) => each.labels))
        before = kept
        kept = newestPoints({ points: read.points, series: read.series, ...joined, report }, POINTS_MAX)
        models.set(kept, expected(models.get(base) ?? new Map(), read, kept))
      }
      // Those before are as they were.
      for (const [each, model] of models) expect(modelOf(each)).toEqual(model)
      expect(bytesOf(kept)).toBeGreaterThanOrEqual(8 * kept.points.length)
    }),
  )
})

it('is picked at any points, neighbours or not', () => {
  const kept = { ...part(1, 0, 20, [true, false, true]), dataVersion: 1 }
  const even = keepWhere(kept, (index) => index % 2 === 0)
  expect([...even.points]).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18])
  for (const points of [
    [4, 5, 6],
    [4, 6, 8],
    [0, 19],
    [18, 19, 20],
  ]) {
    const picked = pickPoints(Float64Array.from(points), kept)
    const values = points.map((point) => (point > 19 ? Number.NaN : 1000 + 10 * point))
    expect(picked.map((each) => [...each.values])).toEqual([values, values.map((value) => value + 2)])
  }
})

/** Values by place and point, those that are no number too. */
function modelOf({ points, series }: ComputedPoints): Map<string, number> {
  return new Map(
    series.flatMap((each) =>
      [...points].map((point, i) => [`${each.labels['pool']} ${point}`, each.values[i] ?? 0]),
    ),
  )
}

function expected(
  base: ReadonlyMap<string, number>,
  read: ComputedPoints,
  kept: ComputedPoints,
): Map<string, number> {
  const fresh = modelOf(read)
  return new Map([...modelOf(kept).keys()].map((key) => [key, fresh.get(key) ?? base.get(key) ?? Number.NaN]))
}
