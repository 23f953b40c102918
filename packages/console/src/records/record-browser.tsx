import { Radio, Plus, X } from 'lucide-react'
import { useEffect, useMemo, useState } from 'react'
import type { TableInfo } from '../api/project.ts'
import type { ProjectAddress } from '../api/project-address.ts'
import type { Row } from '../api/sql.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Choose, TextInput, Toggle } from '../parts/field.tsx'
import { counted } from '../parts/format.ts'
import { ErrorNotice, Progress } from '../parts/notice.tsx'
import { Card } from '../parts/page.tsx'
import { VirtualGrid } from '../parts/virtual-grid.tsx'
import { Cell } from '../sql/cell.tsx'
import { RecordDialog } from '../sql/record-dialog.tsx'
import { columnsOf } from '../sql/result-view.tsx'
import { useRun } from '../sql/run.ts'
import { recordStatement, type Condition } from './record-statement.ts'

const PAGE = 500
const LIVE_EVERY_MS = 2000
const SETTLE_MS = 350
const OPERATORS = (['is', 'is not', 'contains'] as const).map((id) => ({ id, name: id }))

/** The records of a table, newest first, with filters, search and a live tail. */
export function RecordBrowser({
  address,
  tables,
  chosen,
  onChoose,
}: {
  readonly address: ProjectAddress
  readonly tables: readonly TableInfo[]
  /** The table in the address of the page; the first one when it is none of these. */
  readonly chosen: string | undefined
  readonly onChoose: (table: string) => void
}) {
  const [conditions, setConditions] = useState<readonly Condition[]>([])
  const [sought, setSought] = useState('')
  const [isLive, setLive] = useState(false)
  const [open, setOpen] = useState<Row | null>(null)
  const table = tables.find((each) => each.name === chosen) ?? tables[0]
  const { run, start, more } = useRun(address)
  const statement = useMemo(
    () => table && recordStatement(table, conditions, sought, PAGE),
    [table, conditions, sought],
  )
  useEffect(() => {
    if (!statement) return
    // The letters of a word are no queries of their own.
    const first = setTimeout(() => void start(statement, true), SETTLE_MS)
    const live = isLive ? setInterval(() => void start(statement, true), LIVE_EVERY_MS) : undefined
    return () => {
      clearTimeout(first)
      clearInterval(live)
    }
    // oxlint-disable-next-line react/exhaustive-deps -- `start` is made anew each time and means the same
  }, [statement, isLive])
  const columns = useMemo(() => columnsOf(run), [run])
  // Before its first question has left, the table is not known to be empty.
  const isLooking = run.state === 'idle' || run.state === 'running'
  if (!table) return null
  const change = (index: number, changed: Partial<Condition>) =>
    setConditions((before) => before.map((each, place) => (place === index ? { ...each, ...changed } : each)))
  return (
    <Card isPadded={false}>
      <div className="toolbar">
        <Choose
          label="Table"
          isLabelHidden
          value={table.name}
          choices={tables.map((each) => ({ id: each.name, name: each.name }))}
          onChange={(name) => {
            onChoose(name)
            setConditions([])
          }}
        />
        <div className="grow">
          <TextInput
            label="Search in all columns"
            isLabelHidden
            type="search"
            placeholder="Search in all columns"
            value={sought}
            onChange={setSought}
          />
        </div>
        <Button
          look="quiet"
          onPress={() =>
            setConditions([
              ...conditions,
              { column: table.columns[0]?.name ?? '', operator: 'is', value: '' },
            ])
          }
        >
          <Plus aria-hidden /> Filter
        </Button>
        <Toggle isOn={isLive} onChange={setLive}>
          <Radio aria-hidden size={16} /> Live tail
        </Toggle>
      </div>
      {conditions.map(({ column, operator, value }, index) => (
        <div key={index} className="toolbar">
          <Choose
            label={`Column of filter ${index + 1}`}
            isLabelHidden
            value={column}
            choices={table.columns.map((each) => ({ id: each.name, name: each.name, aside: each.type }))}
            onChange={(chosen) => change(index, { column: chosen })}
          />
          <Choose
            label={`Comparison of filter ${index + 1}`}
            isLabelHidden
            value={operator}
            choices={OPERATORS}
            onChange={(chosen) => change(index, { operator: chosen as Condition['operator'] })}
          />
          <div className="grow">
            <TextInput
              label={`Value of filter ${index + 1}`}
              isLabelHidden
              isMono
              placeholder="value"
              value={value}
              onChange={(typed) => change(index, { value: typed })}
            />
          </div>
          <IconButton
            name={`Remove filter ${index + 1}`}
            onPress={() => setConditions(conditions.toSpliced(index, 1))}
          >
            <X aria-hidden />
          </IconButton>
        </div>
      ))}
      {run.error !== null && <ErrorNotice error={run.error} />}
      <div className="status-line" role="status">
        <span>
          {isLooking
            ? 'Looking …'
            : `${counted(run.rows.length, 'record')}${run.cursor === '' ? '' : ', more as you scroll'}`}
        </span>
        {isLive && <span>newest every 2 seconds</span>}
      </div>
      {isLooking && run.rows.length === 0 && <Progress label="Looking for records" />}
      {run.rows.length > 0 && (
        <VirtualGrid
          label={`Records of ${table.name}`}
          columns={columns}
          rowCount={run.rows.length}
          cell={(row, place) => <Cell value={run.rows[row]?.[run.columns[place] ?? '']} />}
          onOpen={(row) => setOpen(run.rows[row] ?? null)}
          {...(isLive ? {} : { onNearEnd: () => void more() })}
        />
      )}
      {run.state === 'done' && run.rows.length === 0 && (
        <p className="card-body soft">
          {sought === '' && conditions.length === 0
            ? 'No record yet.'
            : 'No record fits the search and the filters.'}
        </p>
      )}
      <RecordDialog
        title={table.name}
        columns={run.columns}
        types={run.types}
        row={open}
        onClose={() => setOpen(null)}
      />
    </Card>
  )
}
