import type { CellIndex, CellWindow } from './cell-index.ts'
import type { CellNeeds, CellStatistic, MetricType } from './series-source.ts'

/** What becomes of the samples in a window, and what must be read for it. NaN is no point. */
export interface WindowReducer {
  readonly needs: Readonly<Record<MetricType, CellNeeds>>
  /** Absent where cells are added up or compared in plain loops, of a counter or of either type. */
  reduce?(cells: CellIndex, window: CellWindow): number
}

const reads = (statistics: readonly CellStatistic[], needsHistory: boolean): CellNeeds => ({
  statistics,
  needsHistory,
  needsSamples: false,
})
const samples = (needsHistory: boolean): CellNeeds => ({ statistics: [], needsHistory, needsSamples: true })
/** A counter's values are totals, which begin with everything before the window. */
const ofValues = (...statistics: CellStatistic[]) => ({
  counter: reads(statistics, true),
  gauge: reads(statistics, false),
})

type Reduce = NonNullable<WindowReducer['reduce']>

/** Windows without samples have no point, except in `count` (FN-3). */
function whereSampled(reduce: Reduce): Reduce {
  return (cells, window) => (cells.firstFrom(window.first) < window.end ? reduce(cells, window) : Number.NaN)
}

const increase = whereSampled((cells, { first, end }) => cells.rise(first, end))
const increaseNeeds = {
  counter: reads(['rise'], false),
  gauge: reads(['rise', 'first', 'last'], true),
}

/** Between the two values around the quantile's place, in proportion. */
function quantileOf(ascending: Float64Array, quantile: number): number {
  const place = quantile * (ascending.length - 1)
  const [low, high] = [ascending[Math.floor(place)] ?? 0, ascending[Math.ceil(place)] ?? 0]
  return low + (high - low) * (place - Math.floor(place))
}

/** The change of a cell's last value from the one at the time before, which may lie in an earlier cell; NaN where there is none. */
function lastChangePerSecond(cells: CellIndex, cell: number): number {
  let [value, at] = [cells.value('previous', cell), cells.value('previousAt', cell)]
  if (Number.isNaN(at)) {
    const earlier = cells.lastBefore(cell)
    value = earlier >= 0 ? cells.value('last', earlier) : (cells.before ?? Number.NaN)
    at = earlier >= 0 ? cells.value('lastAt', earlier) : (cells.beforeAt ?? Number.NaN)
  }
  return ((cells.value('last', cell) - value) * 1e6) / (cells.value('lastAt', cell) - at)
}

/** The reductions of windows of samples, in the sense of MQ-3: a counter's values are its totals. */
export const WINDOW_REDUCERS = {
  avg: { needs: ofValues('sum') },
  sum: { needs: ofValues('sum') },
  min: { needs: ofValues('min') },
  max: { needs: ofValues('max') },
  count: {
    needs: { counter: reads([], true), gauge: reads([], true) },
    reduce: (cells, { first, end }) => {
      const hasBegun = cells.before !== null || cells.lastBefore(end) >= 0
      return hasBegun ? cells.count(first, end) : Number.NaN
    },
  },
  first: {
    needs: ofValues('first'),
    reduce: whereSampled((cells, { first }) => cells.value('first', cells.firstFrom(first))),
  },
  last: {
    needs: ofValues('last'),
    reduce: whereSampled((cells, { end }) => cells.value('last', cells.lastBefore(end))),
  },
  /** The value at t, carried forward without limit (MQ-2). */
  carried: {
    needs: { counter: reads(['last'], true), gauge: reads(['last'], true) },
  },
  delta: {
    needs: { counter: reads(['change'], false), gauge: reads(['first', 'last'], true) },
    reduce: whereSampled((cells, { first, end }) => {
      const previous = cells.lastBefore(first)
      const base = previous >= 0 ? cells.value('last', previous) : cells.before
      const from = base ?? cells.value('first', cells.firstFrom(first))
      return cells.value('last', cells.lastBefore(end)) - from
    }),
  },
  stddev: {
    needs: ofValues('sum', 'squares'),
    reduce: whereSampled((cells, { first, end }) =>
      Math.sqrt(cells.squares(first, end) / cells.count(first, end)),
    ),
  },
  quantile: {
    needs: { counter: samples(true), gauge: samples(false) },
    reduce: whereSampled((cells, { first, end, quantile }) => quantileOf(cells.sorted(first, end), quantile)),
  },
  irate: {
    needs: {
      counter: reads(['last', 'lastAt', 'previous', 'previousAt'], true),
      gauge: reads(['last', 'lastAt', 'previous', 'previousAt'], true),
    },
    reduce: whereSampled((cells, { end }) => lastChangePerSecond(cells, cells.lastBefore(end))),
  },
  increase: { needs: increaseNeeds, reduce: increase },
  rate: {
    needs: increaseNeeds,
    reduce: (cells, window) => increase(cells, window) / window.seconds,
  },
} as const satisfies Record<string, WindowReducer>

/** The name of a reduction. */
export type ReducerName = keyof typeof WINDOW_REDUCERS
