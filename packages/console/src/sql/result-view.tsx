import { useEffect, useMemo, useState } from 'react'
import { ToggleButton, ToggleButtonGroup } from 'react-aria-components'
import { ChartArea, ChartColumn, ChartLine, Table2 } from 'lucide-react'
import type { Row } from '../api/sql.ts'
import { CopyButton } from '../parts/code.tsx'
import { counted, span, wholeNumber } from '../parts/format.ts'
import { Empty, ErrorNotice, Progress, Warnings } from '../parts/notice.tsx'
import { TimeChart, type ChartKind } from '../parts/time-chart.tsx'
import { VirtualGrid, type GridColumn } from '../parts/virtual-grid.tsx'
import { Cell, cellText, rowsAsText } from './cell.tsx'
import { RecordDialog } from './record-dialog.tsx'
import { ROWS_MAX, type Run } from './run.ts'

const CHART_ROWS = 1000
const VIEWS = [
  ['table', 'Table', Table2],
  ['line', 'Lines', ChartLine],
  ['area', 'Areas', ChartArea],
  ['bar', 'Bars', ChartColumn],
] as const
type View = (typeof VIEWS)[number][0]

/** What a run brought: its state, its rows as a table, and as a chart where there is a time and a number. */
export function ResultView({ run, onMore }: { readonly run: Run; readonly onMore: () => void }) {
  const [view, setView] = useState<View>('table')
  const [open, setOpen] = useState<number | null>(null)
  const columns = useMemo(() => columnsOf(run), [run])
  const chart = useMemo(() => chartOf(run), [run])
  if (run.state === 'idle') {
    return (
      <Empty title="Run a statement">
        <p>
          Each event and each metric is a table. Press Run, or Ctrl-Enter in the editor; names and functions
          complete as you type.
        </p>
      </Empty>
    )
  }
  if (run.state === 'running') return <Running run={run} />
  if (run.state === 'cancelled')
    return <p className="card-body soft">Cancelled after {span(run.elapsedMs)}.</p>
  if (run.state === 'failed') {
    return (
      <div className="card-body">
        <ErrorNotice error={run.error} />
      </div>
    )
  }
  return (
    <>
      <div className="status-line" role="status">
        <span>
          {wholeNumber(run.rows.length)} {rowsNote(run)}
        </span>
        <span>{span(run.elapsedMs)}</span>
        {run.rowsRead !== null && (
          <span>
            read {counted(run.rowsRead, 'row')}
            {run.cursor === '' ? '' : ' before the first page'}
          </span>
        )}
        {run.isCached && <span>from the cache</span>}
        <span className="grow" />
        {chart !== null && (
          <ToggleButtonGroup
            className="segments"
            aria-label="Result as"
            disallowEmptySelection
            selectedKeys={[view]}
            onSelectionChange={(keys) => setView([...keys][0] as View)}
          >
            {VIEWS.map(([id, name, Picture]) => (
              <ToggleButton key={id} id={id}>
                <Picture aria-hidden /> {name}
              </ToggleButton>
            ))}
          </ToggleButtonGroup>
        )}
        {run.rows.length > 0 && (
          <CopyButton text={() => rowsAsText(run.columns, run.rows)}>
            {run.cursor === '' ? 'Copy' : 'Copy these rows'}
          </CopyButton>
        )}
      </div>
      {run.error !== null && <ErrorNotice error={run.error} />}
      <Warnings warnings={run.warnings} />
      {view !== 'table' && chart !== null ? (
        <div className="card-body">
          <TimeChart
            label={`${view} chart of ${chart.series.map(({ name }) => name).join(', ')}`}
            {...chart}
            kind={view satisfies ChartKind}
          />
        </div>
      ) : (
        <VirtualGrid
          label="Result"
          columns={columns}
          rowCount={run.rows.length}
          cell={(row, column) => <Cell value={run.rows[row]?.[run.columns[column] ?? '']} />}
          onNearEnd={onMore}
          onOpen={setOpen}
        />
      )}
      <RecordDialog
        title={`Row ${wholeNumber((open ?? 0) + 1)}`}
        columns={run.columns}
        types={run.types}
        row={open === null ? null : (run.rows[open] ?? null)}
        onClose={() => setOpen(null)}
      />
    </>
  )
}

function rowsNote({ cursor, rows }: Run): string {
  if (cursor === '') return rows.length === 1 ? 'row' : 'rows'
  return rows.length < ROWS_MAX
    ? 'rows so far, more as you scroll'
    : 'rows are shown; download the whole result'
}

function Running({ run: { startedAt, rowsRead, rowsToRead } }: { readonly run: Run }) {
  const [now, setNow] = useState(performance.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 100)
    return () => clearInterval(timer)
  }, [])
  return (
    <>
      <Progress label="Running the statement" />
      <p className="card-body soft">
        {(Math.max(0, now - startedAt) / 1000).toFixed(1)} s
        {rowsRead !== null && `, read ${counted(rowsRead, 'row')}`}
        {rowsToRead > 0 && ` of about ${wholeNumber(rowsToRead)}`}
      </p>
    </>
  )
}

/** The columns of a run, as wide as their values. */
export function columnsOf({ columns, types, rows }: Run): readonly GridColumn[] {
  return columns.map((name) => {
    const aside = types[name] ?? ''
    const longest = Math.max(
      name.length + aside.length + 2,
      ...rows.slice(0, 200).map((row) => cellText(row[name]).length),
    )
    return {
      name,
      aside: aside.toLowerCase(),
      isNumber: aside === 'NUMBER',
      width: Math.min(68, Math.max(6, longest + 1)),
    }
  })
}

/** The first time as an axis and the numbers as lines, of the rows that are there. */
function chartOf({ columns, types, rows }: Run) {
  const time = columns.find((name) => types[name] === 'TIME')
  const numbers = columns.filter((name) => types[name] === 'NUMBER').slice(0, 10)
  if (time === undefined || numbers.length === 0 || rows.length < 2) return null
  const at = (row: Row) => Date.parse(String(row[time])) / 1000
  const ordered = rows.slice(0, CHART_ROWS).toSorted((a, b) => at(a) - at(b))
  return {
    times: ordered.map(at),
    series: numbers.map((name) => ({
      name,
      values: ordered.map((row) => (row[name] === null ? null : Number(row[name]))),
    })),
  }
}
