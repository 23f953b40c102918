import type { CellStatistic, MetricType, SeriesCells } from '../metrics/series-source.ts'
import type { SeriesRow } from './series-source-find.ts'

/** Statistics whose cells hold a counter's totals, which begin with what lies before the cell. */
export const TOTALS: readonly CellStatistic[] = ['sum', 'min', 'max', 'first', 'last', 'previous']
/** The column of a reading of samples. */
export const SAMPLES_COLUMNS: readonly CellStatistic[] = ['last']

/** The cells of many series while their rows arrive. */
export interface CellTable {
  /** The row of a series by the halves of its id; -1 when it is none of the table. */
  find(high: number, low: number): number
  setHistory(row: number, numbers: Float64Array, at: number): void
  setCell(row: number, cell: number, count: number, numbers: Float64Array, at: number): void
  /** The series, each made when it is asked for. */
  series(): Generator<SeriesCells>
}

/** What the cells of a table are made for. */
interface CellPurpose {
  readonly needsSamples: boolean
  readonly needsTotals: boolean
}

/** An empty table: `cells` cells for each series and statistic in one array each. */
export function createCellTable(
  found: readonly SeriesRow[],
  type: MetricType,
  columns: readonly CellStatistic[],
  cells: number,
  { needsSamples, needsTotals }: CellPurpose,
): CellTable {
  const find = indexIds(found)
  const before = new Float64Array(found.length).fill(Number.NaN)
  const beforeAt = new Float64Array(found.length).fill(Number.NaN)
  const counts = new Float64Array(found.length * cells)
  const values = needsSamples ? [] : columns.map(() => new Float64Array(found.length * cells))
  const samples: (number[] | undefined)[] = []
  return {
    find,
    setHistory(row, numbers, at) {
      before[row] = numbers[at] ?? Number.NaN
      beforeAt[row] = numbers[at + 1] ?? Number.NaN
    },
    setCell(row, cell, count, numbers, at) {
      const place = row * cells + cell
      counts[place] = (counts[place] ?? 0) + count
      if (needsSamples) (samples[place] ??= []).push(numbers[at] ?? Number.NaN)
      for (let column = 0; column < values.length; column += 1) {
        const target = values[column]
        if (target) target[place] = numbers[at + column] ?? Number.NaN
      }
    },
    *series() {
      for (const [row, { labels }] of found.entries()) {
        const [first, end] = [row * cells, (row + 1) * cells]
        const begun = before[row] ?? Number.NaN
        const series: SeriesCells = {
          labels: withoutEmpty(labels),
          type,
          before: Number.isNaN(begun) ? null : begun,
          beforeAt: Number.isNaN(begun) ? null : (beforeAt[row] ?? null),
          count: counts.subarray(first, end),
          statistics: Object.fromEntries(
            values.map((all, column) => [columns[column], all.subarray(first, end)]),
          ),
          samples: needsSamples ? samples.slice(first, end) : [],
        }
        if (needsTotals) addTotals(series)
        yield needsSamples && type === 'counter' ? raised(series) : series
      }
    },
  }
}

function withoutEmpty(labels: SeriesRow['labels']): SeriesRow['labels'] {
  for (const name in labels) {
    if (labels[name] === '')
      return Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''))
  }
  return labels
}

/** A hash table of 64-bit ids in two halves, several times as fast as a map of big integers. */
function indexIds(found: readonly SeriesRow[]): CellTable['find'] {
  const size = 2 ** Math.ceil(Math.log2(found.length * 2 + 2))
  const rows = new Int32Array(size).fill(-1)
  const [highs, lows] = [new Int32Array(found.length), new Int32Array(found.length)]
  for (const [row, { series_id }] of found.entries()) {
    const id = BigInt.asIntN(64, BigInt(series_id))
    highs[row] = Number(id >> 32n)
    lows[row] = Number(BigInt.asIntN(32, id))
    let slot = slotOf(highs[row] ?? 0, lows[row] ?? 0, size)
    while ((rows[slot] ?? -1) >= 0) slot = (slot + 1) & (size - 1)
    rows[slot] = row
  }
  return (high, low) => {
    for (let slot = slotOf(high, low, size); ; slot = (slot + 1) & (size - 1)) {
      const row = rows[slot] ?? -1
      if (row < 0 || (highs[row] === high && lows[row] === low)) return row
    }
  }
}

function slotOf(high: number, low: number, size: number): number {
  const mixed = Math.imul(high ^ Math.imul(low, 0x9e3779b1), 0x85ebca6b)
  return (mixed ^ (mixed >>> 15)) & (size - 1)
}

/** Turns totals from the start of each cell into totals from the beginning; the sum is compensated (Neumaier). */
function addTotals(series: SeriesCells): void {
  const { count, statistics } = series
  let [total, compensation] = [series.before ?? 0, 0]
  for (const [cell, samples] of count.entries()) {
    if (samples === 0) continue
    const base = total + compensation
    for (const statistic of TOTALS) {
      const values = statistics[statistic]
      if (values) values[cell] = (values[cell] ?? 0) + base * (statistic === 'sum' ? samples : 1)
    }
    const change = statistics.change?.[cell] ?? 0
    const next = total + change
    compensation += Math.abs(total) >= Math.abs(change) ? total - next + change : change - next + total
    total = next
  }
}

/** The same for samples, which are totals since the first cell. */
function raised(series: SeriesCells): SeriesCells {
  const base = series.before ?? 0
  return { ...series, samples: series.samples.map((values) => values?.map((value) => value + base)) }
}
