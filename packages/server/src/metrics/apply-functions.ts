import { indexCells } from './cell-index.ts'
import type { FunctionCall } from './functions.ts'
import { FUNCTIONS } from './functions.ts'
import type { GridSeries } from './grid-series.ts'
import { hasPoints, point } from './grid-series.ts'
import type { Period } from './period.ts'
import { addPeriod } from './period.ts'
import type { SeriesCells } from './series-source.ts'
import type { Grid } from './time-range.ts'
import type { ReducerName, WindowReducer } from './window-reducers.ts'
import { WINDOW_REDUCERS } from './window-reducers.ts'
import type { CellRanges, Windows } from './windows.ts'
import { cellRanges, windowsOf } from './windows.ts'

/** The value of each window of a series of cells. */
export function reduceWindows(
  series: SeriesCells,
  ranges: CellRanges,
  name: ReducerName,
  quantile: number | null = null,
): Float64Array {
  const reducer: WindowReducer = WINDOW_REDUCERS[name]
  const cells = indexCells(series)
  return ranges.seconds.map((seconds, i) =>
    point(
      reducer.reduce(cells, {
        first: ranges.first[i] ?? 0,
        end: ranges.end[i] ?? 0,
        seconds,
        quantile: quantile ?? Number.NaN,
      }),
    ),
  )
}

/** Applies functions one after the other, each taking the grid values of the one before as its samples (FN-7). */
export function applyFunctions(
  series: readonly GridSeries[],
  calls: readonly FunctionCall[],
  grid: Grid,
): readonly GridSeries[] {
  return calls.reduce((series, call) => applyFunction(series, call, grid), series).filter(hasPoints)
}

function applyFunction(series: readonly GridSeries[], call: FunctionCall, grid: Grid): readonly GridSeries[] {
  const { operation } = FUNCTIONS[call.name]
  const argument = call.argument
  switch (operation.kind) {
    case 'map': {
      const number = typeof argument === 'number' ? argument : Number.NaN
      return series.map(({ labels, values }) => ({
        labels,
        // Functions such as max(value, NaN) must not see what is no point.
        values: values.map((value) => (Number.isNaN(value) ? value : point(operation.apply(value, number)))),
      }))
    }
    case 'calendar': {
      const read = grid.points.map((seconds) => {
        const local = new Date((seconds + grid.zone.offsetSecondsAt(seconds)) * 1000)
        return operation.read(local, seconds)
      })
      return series.map(({ labels, values }) => ({
        labels,
        values: values.map((value, i) => (Number.isNaN(value) ? value : (read[i] ?? Number.NaN))),
      }))
    }
    case 'window': {
      const windows = windowsOf({ kind: operation.window, period: periodOf(argument) }, grid)
      return reduceGridValues(series, windows, operation.reducer, grid, call.quantile)
    }
    case 'shift':
      return reduceGridValues(
        series,
        shiftedWindows(periodOf(argument), operation.direction, grid),
        'carried',
        grid,
      )
    case 'rank':
      return keepRanked(series, operation.order, typeof argument === 'number' ? argument : 1, grid)
  }
}

/** Takes each point of a grid series as one sample at its time. */
function reduceGridValues(
  series: readonly GridSeries[],
  windows: Windows,
  reducer: ReducerName,
  grid: Grid,
  quantile: number | null = null,
): GridSeries[] {
  const none = new Float64Array(grid.points.length)
  const unknown = none.map(() => Number.NaN)
  const times = grid.points.map((seconds) => seconds * 1_000_000)
  const ranges = cellRanges(windows, times)
  return series.map(({ labels, values }) => {
    const count = values.map((value) => (Number.isNaN(value) ? 0 : 1))
    const cells: SeriesCells = {
      labels,
      type: 'gauge',
      before: null,
      beforeAt: null,
      count,
      statistics: {
        sum: values,
        min: values,
        max: values,
        first: values,
        last: values,
        rise: none,
        squares: none,
        lastAt: times,
        previous: none,
        previousAt: unknown,
      },
      samples: Array.from(values, (value) => (Number.isNaN(value) ? undefined : [value])),
    }
    return { labels, values: reduceWindows(cells, ranges, reducer, quantile) }
  })
}

/** Windows of everything up to the time that lies `direction` × `period` from each grid point (FN-5). */
export function shiftedWindows(period: Period, direction: 1 | -1, grid: Grid): Windows {
  return {
    fromMicros: new Float64Array(grid.points.length).fill(-Infinity),
    toMicros: grid.points.map(
      (seconds) => addPeriod(grid.zone, seconds * 1000, period, direction) * 1000 + 1,
    ),
  }
}

/** Keeps every series that is among the `k` largest or smallest at some grid point (FN-6); equal values rank alike. */
function keepRanked(
  series: readonly GridSeries[],
  order: 'largest' | 'smallest',
  k: number,
  grid: Grid,
): readonly GridSeries[] {
  const sign = order === 'largest' ? -1 : 1
  const kept = new Set<GridSeries>()
  for (let i = 0; i < grid.points.length && kept.size < series.length; i += 1) {
    const ranked = series
      .map((series) => sign * (series.values[i] ?? Number.NaN))
      .filter((value) => !Number.isNaN(value))
      .toSorted((a, b) => a - b)
    const bound = ranked[Math.min(k, ranked.length) - 1]
    if (bound === undefined) continue
    for (const candidate of series) {
      if (sign * (candidate.values[i] ?? Number.NaN) <= bound) kept.add(candidate)
    }
  }
  return series.filter((candidate) => kept.has(candidate))
}

/** The period that the definition of a function promises. */
export function periodOf(argument: FunctionCall['argument']): Period {
  if (argument === null || typeof argument === 'number') throw new Error('The function has no period')
  return argument
}
