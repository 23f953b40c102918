import type { QueryRangeAnswer } from '@millrace/contract'
import type { ChartSeries } from '../parts/time-chart.tsx'

/** A range answer as a chart draws it. */
export interface ChartData {
  /** Unix seconds. */
  readonly times: readonly number[]
  readonly series: readonly (ChartSeries & { readonly id: string })[]
  /** Series that there are beyond those that came. */
  readonly left: number
}

/** Puts the series of an answer on one axis of time. */
export function chartData({ results }: QueryRangeAnswer): ChartData {
  const instants = new Set<number>()
  const all = results.flatMap(({ id = '', matrix }) =>
    (matrix?.samples ?? []).map((sample) => ({ id, sample })),
  )
  for (const { sample } of all) for (const { timestamp } of sample.values) instants.add(Number(timestamp))
  const times = [...instants].toSorted((a, b) => a - b)
  const places = new Map(times.map((time, place) => [time, place]))
  const series = all.map(({ id, sample: { metric, values } }) => {
    const row: (number | null)[] = Array.from({ length: times.length }, () => null)
    for (const { timestamp, value } of values) row[places.get(Number(timestamp)) ?? 0] = value
    return { id, name: metric.displayName || metric.name, values: row }
  })
  const left = results.reduce(
    (sum, { matrix }) => sum + (matrix ? matrix.totalSeries - matrix.samples.length : 0),
    0,
  )
  return { times, series, left }
}

/** The lines of a CSV file: a column of time, and one a series. */
export function chartCsv({ times, series }: ChartData): string {
  const head = ['time', ...series.map(({ name }) => csvCell(name))].join(',')
  const lines = times.map((time, place) =>
    [new Date(time * 1000).toISOString(), ...series.map(({ values }) => values[place] ?? '')].join(','),
  )
  return `${[head, ...lines].join('\r\n')}\r\n`
}

/** A cell of a CSV file, in quotes where it needs them (RFC 4180). */
export function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
