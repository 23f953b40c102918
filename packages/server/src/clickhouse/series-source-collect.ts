import { addTotals } from '../metrics/counter-totals.ts'
import { indexIds } from '../metrics/id-index.ts'
import type { CellStatistic, MetricType, SeriesCells } from '../metrics/series-source.ts'
import type { SeriesRow } from './series-source-find.ts'
import { placesOf } from './series-source-rows.ts'
import type { ScanColumns } from './series-source-scan.ts'

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
  { kinds, before: beforeColumn, beforeAt: beforeAtColumn }: ScanColumns,
): CellTable {
  const find = indexIds(found.map(({ series_id: id }) => id))
  const before = new Float64Array(found.length).fill(Number.NaN)
  const beforeAt = new Float64Array(found.length).fill(Number.NaN)
  const counts = new Float64Array(found.length * cells)
  const values = needsSamples ? [] : columns.map(() => new Float64Array(found.length * cells))
  const samples: (number[] | undefined)[] = []
  const places = placesOf(kinds)
  const [beforePlace, beforeAtPlace] = [places[beforeColumn] ?? -1, places[beforeAtColumn] ?? -1]
  return {
    find,
    setHistory(row, numbers, at) {
      before[row] = numbers[at + beforePlace] ?? Number.NaN
      if (beforeAtPlace >= 0) beforeAt[row] = numbers[at + beforeAtPlace] ?? Number.NaN
    },
    setCell(row, cell, count, numbers, at) {
      const place = row * cells + cell
      counts[place] = (counts[place] ?? 0) + count
      if (needsSamples) (samples[place] ??= []).push(numbers[at] ?? Number.NaN)
      for (let column = 0; column < values.length; column += 1) {
        const target = values[column]
        if (target) target[place] = numbers[at + (places[column] ?? 0)] ?? Number.NaN
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

/** The same for samples, which are totals since the first cell. */
function raised(series: SeriesCells): SeriesCells {
  const base = series.before ?? 0
  return { ...series, samples: series.samples.map((values) => values?.map((value) => value + base)) }
}
