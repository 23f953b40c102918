import { VirtualGrid } from '../parts/virtual-grid.tsx'
import type { ChartData } from './chart-data.ts'

/** The values of a chart as a table: a row a point of time, a column a series. */
export function SeriesTable({
  data: { times, series },
  timezone,
}: {
  readonly data: ChartData
  readonly timezone: string
}) {
  const format = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone: timezone,
  })
  const columns = [
    { name: 'Time', aside: timezone, width: 34 },
    ...series.map(({ name }) => ({
      name,
      isNumber: true,
      width: Math.min(40, Math.max(16, name.length + 2)),
    })),
  ]
  // The newest first: that is what one looks for.
  const place = (row: number) => times.length - 1 - row
  return (
    <VirtualGrid
      label="Values"
      columns={columns}
      rowCount={times.length}
      cell={(row, column) =>
        column === 0
          ? format.format((times[place(row)] ?? 0) * 1000)
          : (series[column - 1]?.values[place(row)] ?? <span className="nil">–</span>)
      }
    />
  )
}
