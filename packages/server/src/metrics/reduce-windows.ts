import { indexCells } from './cell-index.ts'
import { point } from './grid-series.ts'
import { lostIn } from './exact-sum.ts'
import type { CellStatistic, SeriesCells } from './series-source.ts'
import { WINDOW_REDUCERS, type ReducerName, type WindowReducer } from './window-reducers.ts'
import type { CellRanges } from './windows.ts'

/** The value of each window of a series of cells; NaN is no point. */
export type WindowReduction = (series: SeriesCells) => Float64Array

/**
 * The reduction of windows, for many series with the same cells. What adds or compares cells is done in plain loops over arrays that all series
 * share, an order of magnitude faster than asking an index; the rest goes through one.
 */
export function createWindowReduction(
  ranges: CellRanges,
  name: ReducerName,
  quantile: number | null = null,
): WindowReduction {
  const reduceByIndex = indexReduction(ranges, WINDOW_REDUCERS[name], quantile)
  switch (name) {
    case 'carried':
      return carryForward(ranges)
    case 'sum':
    case 'avg': {
      const add = windowSums(ranges, 'sum')
      return (series) => add(series, name === 'avg' ? 'samples' : null)
    }
    case 'increase':
    case 'rate': {
      // The rises of a counter are those of its cells; a gauge's also lie between them.
      const add = windowSums(ranges, 'rise')
      return (series) =>
        series.type === 'counter' ? add(series, name === 'rate' ? 'seconds' : null) : reduceByIndex(series)
    }
    case 'delta': {
      const add = windowSums(ranges, 'change')
      return (series) => (series.type === 'counter' ? add(series, null) : reduceByIndex(series))
    }
    case 'min':
    case 'max':
      return windowExtremes(ranges, name)
    default:
      return reduceByIndex
  }
}

function indexReduction(
  ranges: CellRanges,
  reducer: WindowReducer,
  quantile: number | null,
): WindowReduction {
  // One object for all windows, as there are many.
  const window = { first: 0, end: 0, seconds: 0, quantile: quantile ?? Number.NaN }
  return (series) => {
    if (!reducer.reduce) throw new Error('The cells of this type are reduced by themselves')
    const cells = indexCells(series, ranges.longest)
    const values = new Float64Array(ranges.seconds.length)
    for (let i = 0; i < values.length; i += 1) {
      window.first = ranges.first[i] ?? 0
      window.end = ranges.end[i] ?? 0
      window.seconds = ranges.seconds[i] ?? 0
      values[i] = point(reducer.reduce(cells, window))
    }
    return values
  }
}

/** The last value before the end of each window. */
function carryForward({ end }: CellRanges): WindowReduction {
  let values = new Float64Array()
  return ({ before, count, isFull, statistics }) => {
    const carried = new Float64Array(end.length)
    if (isFull && statistics.last) {
      const { last } = statistics
      for (let i = 0; i < end.length; i += 1) {
        const cell = end[i] ?? 0
        carried[i] = point(cell > 0 ? (last[cell - 1] ?? Number.NaN) : (before ?? Number.NaN))
      }
      return carried
    }
    if (values.length !== count.length + 1) values = new Float64Array(count.length + 1)
    const { last } = statistics
    let value = point(before ?? Number.NaN)
    values[0] = value
    for (let cell = 0; cell < count.length; cell += 1) {
      if (count[cell]) value = point(last?.[cell] ?? Number.NaN)
      values[cell + 1] = value
    }
    // Plain loops: Float64Array.from with a function takes ten times as long.
    for (let i = 0; i < end.length; i += 1) carried[i] = values[end[i] ?? 0] ?? Number.NaN
    return carried
  }
}

/** Windows of fewer cells than these are walked. */
const SHORT = 3

/**
 * Where each window is cut so that it is the end of one block of `longest` cells and the beginning of the next (van Herk, Gil and Werman):
 * between its first cell and its end; -1 where it lies inside one block and is walked.
 */
function windowCuts({ first, end, longest }: CellRanges): Int32Array {
  const cuts = new Int32Array(first.length).fill(-1)
  if (longest < SHORT) return cuts
  for (let i = 0; i < cuts.length; i += 1) {
    const from = first[i] ?? 0
    const cut = Math.ceil(from / longest) * longest
    if (cut <= (end[i] ?? 0) && cut >= from) cuts[i] = cut
  }
  return cuts
}

/** How many samples lie before each cell, and in all. */
function runningCounts(count: Float64Array, running: Float64Array): void {
  let total = 0
  for (let cell = 0; cell < count.length; cell += 1) {
    running[cell] = total
    total += count[cell] ?? 0
  }
  running[count.length] = total
}

/** The same of values, as long as their sums are exact: of integers that stay within 53 bits. False where they do not. */
function runningIntegers(count: Float64Array, values: Float64Array, running: Float64Array): boolean {
  let [total, size] = [0, 0]
  for (let cell = 0; cell < count.length; cell += 1) {
    running[cell] = total
    if (!count[cell]) continue
    const value = values[cell] ?? 0
    if (value !== Math.floor(value)) return false
    total += value
    size += Math.abs(value)
  }
  running[count.length] = total
  return size <= Number.MAX_SAFE_INTEGER
}

/** The same where every cell counts: not to ask takes half the time. */
function runningIntegersOfAll(values: Float64Array, running: Float64Array): boolean {
  let [total, size] = [0, 0]
  for (let cell = 0; cell < values.length; cell += 1) {
    running[cell] = total
    const value = values[cell] ?? 0
    if (value !== Math.floor(value)) return false
    total += value
    size += Math.abs(value)
  }
  running[values.length] = total
  return size <= Number.MAX_SAFE_INTEGER
}

/** What was added in each window, by what had been added before each cell; no point where no samples were. */
function windowDifferences(
  { first, end }: CellRanges,
  samples: Float64Array,
  totals: Float64Array,
): Float64Array {
  const differences = new Float64Array(first.length)
  for (let i = 0; i < differences.length; i += 1) {
    const from = first[i] ?? 0
    const to = end[i] ?? 0
    const hasSamples = (samples[to] ?? 0) > (samples[from] ?? 0)
    differences[i] = hasSamples ? (totals[to] ?? 0) - (totals[from] ?? 0) : Number.NaN
  }
  return differences
}

/** Compensated (Neumaier) sums of a statistic over windows, by the number of samples or seconds in them where that is wanted; no point where there are no samples. */
function windowSums(
  ranges: CellRanges,
  statistic: CellStatistic,
): (series: SeriesCells, by: 'samples' | 'seconds' | null) => Float64Array {
  const { first, end, seconds, longest } = ranges
  const cuts = windowCuts(ranges)
  const isWalked = longest < SHORT
  const samples = new Float64Array(first.length)
  let counts = new Float64Array()
  let integers = counts
  /** As many as if each cell held one sample. */
  let ones = counts
  let [toEnd, toEndLost] = [counts, counts]
  let [fromStart, fromStartLost] = [counts, counts]

  function addBlocks(count: Float64Array, values: Float64Array): void {
    let [sum, lost] = [0, 0]
    for (let cell = 0, left = 0; cell < count.length; cell += 1, left -= 1) {
      if (left === 0) {
        sum = 0
        lost = 0
        left = longest
      }
      if (count[cell]) {
        const value = values[cell] ?? 0
        const next = sum + value
        lost += lostIn(sum, value, next)
        sum = next
      }
      fromStart[cell] = sum
      fromStartLost[cell] = lost
    }
    sum = 0
    lost = 0
    for (let cell = count.length - 1, left = count.length % longest; cell >= 0; cell -= 1, left -= 1) {
      if (left === 0) {
        sum = 0
        lost = 0
        left = longest
      }
      if (count[cell]) {
        const value = values[cell] ?? 0
        const next = sum + value
        lost += lostIn(sum, value, next)
        sum = next
      }
      toEnd[cell] = sum
      toEndLost[cell] = lost
    }
  }

  function sumsOfFractions(count: Float64Array, values: Float64Array, running: Float64Array): Float64Array {
    if (!isWalked) addBlocks(count, values)
    const sums = new Float64Array(first.length)
    for (let i = 0; i < sums.length; i += 1) {
      const from = first[i] ?? 0
      const to = end[i] ?? 0
      if (!((running[to] ?? 0) > (running[from] ?? 0))) {
        sums[i] = Number.NaN
        continue
      }
      const cut = cuts[i] ?? -1
      let [sum, lost] = [0, 0]
      if (cut < 0) {
        for (let cell = from; cell < to; cell += 1) {
          if (!count[cell]) continue
          const value = values[cell] ?? 0
          const next = sum + value
          lost += lostIn(sum, value, next)
          sum = next
        }
      } else {
        const a = cut > from ? (toEnd[from] ?? 0) : 0
        const b = to > cut ? (fromStart[to - 1] ?? 0) : 0
        sum = a + b
        lost = lostIn(a, b, sum)
        if (cut > from) lost += toEndLost[from] ?? 0
        if (to > cut) lost += fromStartLost[to - 1] ?? 0
      }
      sums[i] = point(sum + lost)
    }
    return sums
  }

  function samplesIn(running: Float64Array): Float64Array {
    for (let i = 0; i < samples.length; i += 1) {
      samples[i] = (running[end[i] ?? 0] ?? 0) - (running[first[i] ?? 0] ?? 0)
    }
    return samples
  }

  return ({ count, isFull, statistics }, by) => {
    const values = statistics[statistic]
    if (!values) throw new Error(`The statistic ${statistic} was not read`)
    if (counts.length !== count.length + 1) {
      counts = new Float64Array(count.length + 1)
      ones = counts.map((_, cell) => cell)
      integers = new Float64Array(count.length + 1)
      if (!isWalked) {
        // One more, which stays 0: what begins at the end of all cells, or ends before them.
        toEnd = new Float64Array(count.length + 1)
        toEndLost = new Float64Array(count.length + 1)
        fromStart = new Float64Array(count.length + 1)
        fromStartLost = new Float64Array(count.length + 1)
      }
    }
    // How many samples there are matters only where they are divided by.
    const running = isFull && by !== 'samples' ? ones : counts
    if (running === counts) runningCounts(count, counts)
    const isExact = isFull ? runningIntegersOfAll(values, integers) : runningIntegers(count, values, integers)
    const reduced = isExact
      ? windowDifferences(ranges, running, integers)
      : sumsOfFractions(count, values, running)
    if (by !== null) divide(reduced, by === 'seconds' ? seconds : samplesIn(running))
    return reduced
  }
}

/** By seconds or samples, of which there is at least one: what is finite remains so. Asking whether it is would take as long again. */
function divide(values: Float64Array, divisors: Float64Array): void {
  for (let i = 0; i < values.length; i += 1) values[i] = (values[i] ?? 0) / (divisors[i] ?? 0) + 0
}

/** Minima or maxima over windows; no point where there are no samples. */
function windowExtremes(ranges: CellRanges, statistic: 'min' | 'max'): WindowReduction {
  const { first, end, longest } = ranges
  const cuts = windowCuts(ranges)
  const isWalked = longest < SHORT
  // Largest of the values, or of their opposites.
  const sign = statistic === 'max' ? 1 : -1
  let toEnd = new Float64Array()
  let fromStart = toEnd

  function compareBlocks(count: Float64Array, values: Float64Array): void {
    let most = -Infinity
    for (let cell = 0, left = 0; cell < count.length; cell += 1, left -= 1) {
      if (left === 0) {
        most = -Infinity
        left = longest
      }
      if (count[cell]) most = Math.max(most, sign * (values[cell] ?? 0))
      fromStart[cell] = most
    }
    most = -Infinity
    for (let cell = count.length - 1, left = count.length % longest; cell >= 0; cell -= 1, left -= 1) {
      if (left === 0) {
        most = -Infinity
        left = longest
      }
      if (count[cell]) most = Math.max(most, sign * (values[cell] ?? 0))
      toEnd[cell] = most
    }
  }

  return ({ count, statistics }) => {
    const values = statistics[statistic]
    if (!values) throw new Error(`The statistic ${statistic} was not read`)
    if (!isWalked) {
      if (toEnd.length !== count.length) {
        toEnd = new Float64Array(count.length)
        fromStart = new Float64Array(count.length)
      }
      compareBlocks(count, values)
    }
    const reduced = new Float64Array(first.length)
    for (let i = 0; i < reduced.length; i += 1) {
      const from = first[i] ?? 0
      const to = end[i] ?? 0
      const cut = cuts[i] ?? -1
      let most = -Infinity
      if (cut < 0) {
        for (let cell = from; cell < to; cell += 1) {
          if (count[cell]) most = Math.max(most, sign * (values[cell] ?? 0))
        }
      } else {
        if (cut > from) most = toEnd[from] ?? -Infinity
        if (to > cut) most = Math.max(most, fromStart[to - 1] ?? -Infinity)
      }
      // Nothing was compared where it is infinite still, and no sample is.
      reduced[i] = point(sign * most)
    }
    return reduced
  }
}
