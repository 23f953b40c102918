import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createWindowReduction } from './reduce-windows.ts'
import type { MetricType, SeriesCells } from './series-source.ts'
import type { ReducerName } from './window-reducers.ts'
import type { CellRanges } from './windows.ts'

const CELLS = 40
/** Eighths, of which sums are exact; `unit` 8 makes integers of them. */
const cells = fc.record({
  unit: fc.constantFrom(1, 8),
  rows: fc
    .constantFrom([1, 3], [0, 1, 3])
    .chain((counts) =>
      fc.array(
        fc.record({ count: fc.constantFrom(...counts), eighths: fc.integer({ min: -1e6, max: 1e6 }) }),
        { minLength: CELLS, maxLength: CELLS },
      ),
    ),
})
/** Fractions of these sizes are whole in it. */
const UNIT = 2 ** 64
const windows = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: CELLS }), fc.integer({ min: 0, max: CELLS }))
    .map(([a, b]) => [Math.min(a, b), Math.max(a, b)]),
  { minLength: 1, maxLength: 30 },
)

function rangesOf(all: readonly (readonly number[])[], widest: number): CellRanges {
  const cut = all.map(([first = 0, end = 0]) => [first, Math.min(end, first + widest)] as const)
  return {
    first: Int32Array.from(cut, ([first]) => first),
    end: Int32Array.from(cut, ([, end]) => end),
    seconds: Float64Array.from(cut, ([first, end]) => (end - first) * 60),
    longest: Math.max(...cut.map(([first, end]) => end - first)),
  }
}

/** What a reducer makes of the values in a window, of which some have samples; plainly. */
const PLAINLY: Partial<Record<ReducerName, (values: readonly number[], samples: number) => number>> = {
  sum: (values) => values.reduce((a, b) => a + b, 0),
  avg: (values, samples) => values.reduce((a, b) => a + b, 0) / samples,
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  delta: (values) => values.reduce((a, b) => a + b, 0),
  increase: (values) => values.reduce((a, b) => a + b, 0),
}

describe('a window of cells', () => {
  it.each([
    ['sum', 'gauge'],
    ['avg', 'gauge'],
    ['min', 'gauge'],
    ['max', 'gauge'],
    ['delta', 'counter'],
    ['increase', 'counter'],
  ] as const)('has for %s what its cells have one after the other (FN-3)', (name, type: MetricType) => {
    fc.assert(
      fc.property(cells, windows, fc.integer({ min: 1, max: CELLS }), ({ unit, rows }, all, widest) => {
        const values = Float64Array.from(rows, ({ eighths }) => (eighths * unit) / 8)
        const count = Float64Array.from(rows, ({ count }) => count)
        const series: SeriesCells = {
          labels: {},
          type,
          before: null,
          beforeAt: null,
          count,
          statistics: { sum: values, min: values, max: values, change: values, rise: values },
          samples: [],
        }
        const ranges = rangesOf(all, widest)
        const reduce = createWindowReduction(ranges, name)
        // Arrays are shared by all series, so the second must not see the first.
        reduce({ ...series, count: count.map(() => 1), isFull: true })
        const reduced = reduce(series)
        if (rows.every((row) => row.count > 0)) expect(reduce({ ...series, isFull: true })).toEqual(reduced)
        const expected = Array.from(ranges.first, (first, i) => {
          const inside = rows.slice(first, ranges.end[i]).filter(({ count }) => count > 0)
          const samples = inside.reduce((sum, { count }) => sum + count, 0)
          const plain = PLAINLY[name]?.(
            inside.map(({ eighths }) => (eighths * unit) / 8),
            samples,
          )
          return samples === 0 ? Number.NaN : (plain ?? Number.NaN) + 0
        })
        expect([...reduced]).toEqual(expected)
      }),
    )
  })

  it('has sums of fractions that are rounded once, so that they are the same in every range (CA-6)', () => {
    const fractions = fc.array(
      fc.record({ count: fc.constantFrom(0, 1, 3), parts: fc.integer({ min: -1e6, max: 1e6 }) }),
      { minLength: CELLS, maxLength: CELLS },
    )
    fc.assert(
      fc.property(fractions, windows, fc.integer({ min: 1, max: CELLS }), (rows, all, widest) => {
        const values = Float64Array.from(rows, ({ parts }) => parts / 997)
        const series: SeriesCells = {
          labels: {},
          type: 'gauge',
          before: null,
          beforeAt: null,
          count: Float64Array.from(rows, ({ count }) => count),
          statistics: { sum: values },
          samples: [],
        }
        const ranges = rangesOf(all, widest)
        const reduced = createWindowReduction(ranges, 'sum')(series)
        const expected = Array.from(ranges.first, (first, i) => {
          const inside = rows.slice(first, ranges.end[i]).filter(({ count }) => count > 0)
          const sum = inside.reduce((total, { parts }) => total + BigInt((parts / 997) * UNIT), 0n)
          return inside.length === 0 ? Number.NaN : Number(sum) / UNIT
        })
        expect([...reduced]).toEqual(expected)
      }),
    )
  })
})
