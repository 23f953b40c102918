import type { CellStatistic, SeriesCells } from './series-source.ts'

/** Statistics whose cells hold a counter's totals, which begin with what lies before the cell. */
export const TOTALS: readonly CellStatistic[] = ['sum', 'min', 'max', 'first', 'last', 'previous']

/** Turns totals from the start of each cell into totals from the beginning (MQ-3), in place; the sum is compensated (Neumaier). */
export function addTotals({ before, count, statistics }: SeriesCells): void {
  let [total, compensation] = [before ?? 0, 0]
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
