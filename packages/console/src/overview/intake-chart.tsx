import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { countedTables, quoteName, quoteText, type TableInfo } from '../api/project.ts'
import { type ProjectAddress } from '../api/project-address.ts'
import { runSql } from '../api/sql.ts'
import { ErrorNotice, Progress } from '../parts/notice.tsx'
import { Card } from '../parts/page.tsx'
import { TimeChart, seriesColour } from '../parts/time-chart.tsx'

const HOURS = 48
/** Tables that the head of the chart names. */
const NAMED = 12

/** Records an hour and table, by the time of their blocks. */
export function IntakeChart({
  address,
  tables,
}: {
  readonly address: ProjectAddress
  readonly tables: readonly TableInfo[]
}) {
  const names = countedTables(tables).map(({ name }) => name)
  const { data, error } = useQuery({
    queryKey: ['intake-hours', address, names],
    queryFn: async ({ signal }) => {
      const sql = names
        .map(
          (name) =>
            `SELECT ${quoteText(name)} AS name, toUnixTimestamp(toStartOfHour(timestamp)) AS hour, count() AS records FROM ${quoteName(name)} WHERE timestamp > now() - ${HOURS * 3600} GROUP BY hour`,
        )
        .join('\nUNION ALL\n')
      return (await runSql(address, { sql, size: 100_000 }, signal, { isLive: true })).result.rows
    },
    refetchInterval: 30_000,
  })
  const chart = useMemo(() => {
    const last = Math.floor(Date.now() / 3_600_000) * 3600
    const times = Array.from({ length: HOURS }, (_, index) => last - (HOURS - 1 - index) * 3600)
    const series = names.map((name) => {
      const counts = new Map(
        data
          ?.filter((row) => row['name'] === name)
          .map((row) => [Number(row['hour']), Number(row['records'])]),
      )
      return { name, values: times.map((time) => counts.get(time) ?? 0) }
    })
    return { times, series }
    // oxlint-disable-next-line react/exhaustive-deps -- `names` is made anew each time; the data says when it changed
  }, [data])
  return (
    <Card
      title={`Records an hour, last ${HOURS} hours`}
      actions={names.slice(0, NAMED).map((name, index) => (
        <span key={name} className="row small soft">
          <span className="swatch" style={{ background: seriesColour(index) }} /> {name}
        </span>
      ))}
    >
      {error && <ErrorNotice error={error} />}
      {!data && !error && <Progress label="Counting records" />}
      {data && (
        <TimeChart label={`Records an hour of ${names.join(', ')}`} {...chart} kind="bar" height={210} />
      )}
    </Card>
  )
}
