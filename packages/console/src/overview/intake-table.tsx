import { createColumnHelper } from '@tanstack/react-table'
import type { Row } from '../api/sql.ts'
import { ago, wholeNumber } from '../parts/format.ts'
import { Progress } from '../parts/notice.tsx'
import { Card } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'

const column = createColumnHelper<Row>()
const count = (id: string, header: string) =>
  column.accessor((row) => Number(row[id]), {
    id,
    header,
    cell: ({ getValue }) => wholeNumber(getValue()),
    meta: { isNumber: true },
  })

const COLUMNS = [
  column.accessor((row) => String(row['name']), { id: 'name', header: 'Table' }),
  column.accessor((row) => String(row['chain']), {
    id: 'chain',
    header: 'Chain',
    cell: ({ getValue }) => getValue() || '–',
  }),
  count('hour', 'Last hour'),
  count('day', 'Last 24 h'),
  count('total', 'All'),
  column.accessor((row) => Number(row['block']), {
    id: 'block',
    header: 'Newest block',
    cell: ({ getValue, row }) => (
      <>
        {wholeNumber(getValue())} <span className="soft small">{ago(String(row.original['newest']))}</span>
      </>
    ),
    meta: { isNumber: true },
  }),
]

/** What came into each table, by chain. */
export function IntakeTable({
  rows,
  isPending,
  left,
}: {
  readonly rows: readonly Row[]
  readonly isPending: boolean
  /** Tables that are not counted here. */
  readonly left: number
}) {
  return (
    <Card
      title="Coming in"
      isPadded={false}
      actions={
        left > 0 && <span className="soft small">{wholeNumber(left)} more tables are not counted</span>
      }
    >
      {isPending ? <Progress label="Counting" /> : <Table label="Coming in" rows={rows} columns={COLUMNS} />}
    </Card>
  )
}
