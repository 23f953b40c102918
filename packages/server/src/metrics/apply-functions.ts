import type { FunctionCall } from './functions.ts'
import { FUNCTIONS } from './functions.ts'
import type { GridSeries } from './grid-series.ts'
import { hasPoints, point } from './grid-series.ts'
import type { Pace } from './pace.ts'
import type { Period } from './period.ts'
import { addPeriod } from './period.ts'
import type { SeriesCells } from './series-source.ts'
import type { Grid } from './time-range.ts'
import { createWindowReduction } from './reduce-windows.ts'
import type { ReducerName } from './window-reducers.ts'
import type { Windows } from './windows.ts'
import { cellRanges, windowsOf } from './windows.ts'

/** Applies functions one after the other, each taking the grid values of the one before as its samples (FN-7). */
export async function applyFunctions(
  series: readonly GridSeries[],
  calls: readonly FunctionCall[],
  grid: Grid,
  pace: Pace,
): Promise<readonly GridSeries[]> {
  let applied = series
  for (const call of calls) applied = await applyFunction(applied, call, grid, pace)
  return calls.length === 0 ? series : applied.filter(hasPoints)
}

async function applyFunction(
  series: readonly GridSeries[],
  call: FunctionCall,
  grid: Grid,
  pace: Pace,
): Promise<readonly GridSeries[]> {
  const { operation } = FUNCTIONS[call.name]
  if (operation.kind === 'rank') {
    return keepRanked(
      series,
      operation.order,
      typeof call.argument === 'number' ? call.argument : 1,
      grid,
      pace,
    )
  }
  const apply = seriesFunction(call, grid)
  const applied: GridSeries[] = []
  for (const { labels, values } of series) {
    applied.push({ labels, values: apply(values) })
    await pace.turn()
  }
  return applied
}

/** What a function makes of the values of one series. */
function seriesFunction(call: FunctionCall, grid: Grid): (values: Float64Array) => Float64Array {
  const { operation } = FUNCTIONS[call.name]
  const { argument } = call
  switch (operation.kind) {
    case 'map': {
      const number = typeof argument === 'number' ? argument : Number.NaN
      // Functions such as max(value, NaN) must not see what is no point.
      return (values) =>
        values.map((value) => (Number.isNaN(value) ? value : point(operation.apply(value, number))))
    }
    case 'calendar': {
      const read = grid.points.map((seconds) => {
        const local = new Date((seconds + grid.zone.offsetSecondsAt(seconds)) * 1000)
        return operation.read(local, seconds)
      })
      return (values) => values.map((value, i) => (Number.isNaN(value) ? value : (read[i] ?? Number.NaN)))
    }
    case 'window': {
      const windows = windowsOf({ kind: operation.window, period: periodOf(argument) }, grid)
      return gridReduction(windows, operation.reducer, grid, call.quantile)
    }
    case 'shift': {
      const windows = shiftedWindows(periodOf(argument), operation.direction, grid)
      return gridReduction(windows, 'carried', grid, null)
    }
    case 'rank':
      throw new Error('A rank is one among others')
  }
}

/** Takes each point of a grid series as one sample at its time. */
function gridReduction(
  windows: Windows,
  reducer: ReducerName,
  grid: Grid,
  quantile: number | null,
): (values: Float64Array) => Float64Array {
  const none = new Float64Array(grid.points.length)
  const unknown = none.map(() => Number.NaN)
  const times = grid.points.map((seconds) => seconds * 1_000_000)
  const reduce = createWindowReduction(cellRanges(windows, times), reducer, quantile)
  return (values) => {
    const cells: SeriesCells = {
      labels: {},
      type: 'gauge',
      before: null,
      beforeAt: null,
      count: values.map((value) => (Number.isNaN(value) ? 0 : 1)),
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
    return reduce(cells)
  }
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
async function keepRanked(
  series: readonly GridSeries[],
  order: 'largest' | 'smallest',
  k: number,
  grid: Grid,
  pace: Pace,
): Promise<readonly GridSeries[]> {
  const sign = order === 'largest' ? -1 : 1
  const isKept = new Uint8Array(series.length)
  const columns = Array.from({ length: BLOCK }, () => new Float64Array(series.length))
  for (let first = 0; first < grid.points.length; first += BLOCK) {
    const width = Math.min(BLOCK, grid.points.length - first)
    for (const [index, { values }] of series.entries()) {
      for (let at = 0; at < width; at += 1) {
        const column = columns[at]
        if (column) column[index] = sign * (values[first + at] ?? Number.NaN)
      }
      if (index % BLOCK === 0) await pace.turn()
    }
    for (const column of columns.slice(0, width)) {
      const present = column.filter((value) => !Number.isNaN(value))
      if (present.length === 0) continue
      const bound = kthSmallest(present, Math.min(k, present.length))
      for (let index = 0; index < column.length; index += 1) {
        if ((column[index] ?? Infinity) <= bound) isKept[index] = 1
      }
      await pace.turn()
    }
  }
  return series.filter((_, index) => isKept[index])
}

/** Grid points ranked in one pass over all series: reading a series costs more than ranking it. */
const BLOCK = 32
/** Ranks below this are found by keeping the best so far, which is one pass. */
const FEW = 32

function kthSmallest(values: Float64Array, k: number): number {
  if (k > FEW) return values.toSorted()[k - 1] ?? Number.NaN
  const best = new Float64Array(k).fill(Infinity)
  for (const value of values) {
    if (value >= (best[k - 1] ?? Infinity)) continue
    let place = k - 1
    for (; place > 0 && (best[place - 1] ?? 0) > value; place -= 1) best[place] = best[place - 1] ?? 0
    best[place] = value
  }
  return best[k - 1] ?? Number.NaN
}

/** The period that the definition of a function promises. */
export function periodOf(argument: FunctionCall['argument']): Period {
  if (argument === null || typeof argument === 'number') throw new Error('The function has no period')
  return argument
}
