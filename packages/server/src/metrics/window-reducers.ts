import type { CellIndex, CellWindow } from './cell-index.ts'
import type { CellNeeds, CellStatistic, MetricType } from './series-source.ts'

/** What becomes of the samples in a window, and what must be read for it. NaN is no point. */
export interface WindowReducer {
  readonly needs: Readonly<Record<MetricType, CellNeeds>>
  reduce(cells: CellIndex, window: CellWindow): number
}

const reads = (statistics: readonly CellStatistic[], needsHistory: boolean): CellNeeds => ({
  statistics,
  needsHistory,
})
/** A counter's values are totals, which begin with everything before the window. */
const ofValues = (...statistics: CellStatistic[]) => ({
  counter: reads(statistics, true),
  gauge: reads(statistics, false),
})

/** Windows without samples have no point, except in `count` (FN-3). */
function whereSampled(reduce: WindowReducer['reduce']): WindowReducer['reduce'] {
  return (cells, window) => (cells.firstFrom(window.first) < window.end ? reduce(cells, window) : Number.NaN)
}

const increase = whereSampled((cells, { first, end }) => cells.rise(first, end))
const increaseNeeds = {
  counter: reads(['rise'], false),
  gauge: reads(['rise', 'first', 'last'], true),
}

/** The reductions of windows of samples, in the sense of MQ-3: a counter's values are its totals. */
export const WINDOW_REDUCERS = {
  avg: {
    needs: ofValues('sum'),
    reduce: whereSampled((cells, { first, end }) => cells.sum(first, end) / cells.count(first, end)),
  },
  sum: {
    needs: ofValues('sum'),
    reduce: whereSampled((cells, { first, end }) => cells.sum(first, end)),
  },
  min: {
    needs: ofValues('min'),
    reduce: whereSampled((cells, { first, end }) => cells.min(first, end)),
  },
  max: {
    needs: ofValues('max'),
    reduce: whereSampled((cells, { first, end }) => cells.max(first, end)),
  },
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
    reduce: (cells, { end }) => {
      const cell = cells.lastBefore(end)
      return cell >= 0 ? cells.value('last', cell) : (cells.before ?? Number.NaN)
    },
  },
  delta: {
    needs: { counter: reads(['change'], false), gauge: reads(['first', 'last'], true) },
    reduce: whereSampled((cells, { first, end }) => {
      if (cells.type === 'counter') return cells.change(first, end)
      const previous = cells.lastBefore(first)
      const base = previous >= 0 ? cells.value('last', previous) : cells.before
      const from = base ?? cells.value('first', cells.firstFrom(first))
      return cells.value('last', cells.lastBefore(end)) - from
    }),
  },
  increase: { needs: increaseNeeds, reduce: increase },
  rate: {
    needs: increaseNeeds,
    reduce: (cells, window) => increase(cells, window) / window.seconds,
  },
} as const satisfies Record<string, WindowReducer>

/** The name of a reduction. */
export type ReducerName = keyof typeof WINDOW_REDUCERS
