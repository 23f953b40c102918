import type { RangeAggregate } from './range-aggregate.ts'
import { rangeSum } from './range-aggregate.ts'
import { squaresOf } from './spread.ts'
import type { CellStatistic, SeriesCells } from './series-source.ts'

/** One window of a series: its cells `[first, end)` and its length. */
export interface CellWindow {
  readonly first: number
  readonly end: number
  readonly seconds: number
  /** The quantile that is asked for, 0 to 1; NaN in other reductions. */
  readonly quantile: number
}

/** Answers about any stretch of a series' cells. */
export interface CellIndex {
  /** The value just before the first cell; null when there was none. */
  readonly before: number | null
  /** The time of `before` in microseconds since 1970. */
  readonly beforeAt: number | null
  readonly count: RangeAggregate
  /** The sum of a gauge's rises, from the value before. */
  readonly rise: RangeAggregate
  /** The sum of the squared distances from the mean of all. */
  readonly squares: RangeAggregate
  value(statistic: 'first' | 'last' | 'lastAt' | 'previous' | 'previousAt', cell: number): number
  /** All values, ascending. */
  sorted(first: number, end: number): Float64Array
  /** The last cell with samples before `cell`, -1 when there is none. */
  lastBefore(cell: number): number
  /** The first cell with samples from `cell` on, the number of cells when there is none. */
  firstFrom(cell: number): number
}

/** Indexes a series for windows of at most `longest` cells; each statistic when it is first asked for. Asking for one that was not read is a defect and throws. */
export function indexCells(series: SeriesCells, longest: number): CellIndex {
  const { count } = series
  const previous = new Int32Array(count.length + 1).fill(-1)
  for (let cell = 1; cell < previous.length; cell += 1) {
    previous[cell] = count[cell - 1] ? cell - 1 : (previous[cell - 1] ?? -1)
  }
  const next = new Int32Array(count.length + 1).fill(count.length)
  for (let cell = count.length - 1; cell >= 0; cell -= 1) {
    next[cell] = count[cell] ? cell : (next[cell + 1] ?? count.length)
  }
  const read = (statistic: CellStatistic): Float64Array => {
    const values = series.statistics[statistic]
    if (!values) throw new Error(`The statistic ${statistic} was not read`)
    return values
  }
  const lastBefore = (cell: number) => previous[cell] ?? -1
  return {
    before: series.before,
    beforeAt: series.beforeAt,
    count: lazily(() => rangeSum(count, longest)),
    rise: lazily(() => rangeSum(wholeRises(series, read, lastBefore), longest)),
    squares: lazily(() => squaresOf(count, read('sum'), read('squares'))),
    sorted: (first, end) =>
      Float64Array.from(series.samples.slice(first, end).flatMap((values) => values ?? [])).toSorted(),
    value: (statistic, cell) => read(statistic)[cell] ?? Number.NaN,
    lastBefore,
    firstFrom: (cell) => next[cell] ?? count.length,
  }
}

function lazily(build: () => RangeAggregate): RangeAggregate {
  let built: RangeAggregate | undefined
  return (first, end) => (built ??= build())(first, end)
}

/** The rise of each cell from the value before it, not only inside it. */
function wholeRises(
  series: SeriesCells,
  read: (statistic: CellStatistic) => Float64Array,
  lastBefore: (cell: number) => number,
): Float64Array {
  const inside = read('rise')
  const [first, last] = [read('first'), read('last')]
  return inside.map((rise, cell) => {
    if (!series.count[cell]) return 0
    const previous = lastBefore(cell)
    const base = previous >= 0 ? last[previous] : series.before
    return rise + (base === null || base === undefined ? 0 : Math.max((first[cell] ?? 0) - base, 0))
  })
}
