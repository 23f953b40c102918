import {
  flexRender,
  getCoreRowModel,
  getSortedRowModel,
  useReactTable,
  type ColumnDef,
} from '@tanstack/react-table'
import { ArrowDown, ArrowUp } from 'lucide-react'

/** A table whose columns sort. `isNumber` in a column's `meta` puts it to the right. */
export function Table<Row>({
  label,
  rows,
  columns,
}: {
  readonly label: string
  readonly rows: readonly Row[]
  // oxlint-disable-next-line typescript/no-explicit-any -- the library's columns hold values of every type
  readonly columns: readonly ColumnDef<Row, any>[]
}) {
  const table = useReactTable({
    data: rows as Row[],
    columns: columns as ColumnDef<Row>[],
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  })
  return (
    <div className="table-box" role="region" aria-label={label} tabIndex={0}>
      <table className="table">
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {group.headers.map(({ id, column, getContext }) => {
                const order = column.getIsSorted()
                const content = flexRender(column.columnDef.header, getContext())
                return (
                  <th
                    key={id}
                    scope="col"
                    className={isNumber(column.columnDef) ? 'number' : ''}
                    aria-sort={order === 'asc' ? 'ascending' : order === 'desc' ? 'descending' : 'none'}
                  >
                    {column.getCanSort() ? (
                      <button type="button" onClick={column.getToggleSortingHandler()}>
                        {content}
                        {order === 'asc' && <ArrowUp aria-hidden />}
                        {order === 'desc' && <ArrowDown aria-hidden />}
                      </button>
                    ) : (
                      content
                    )}
                  </th>
                )
              })}
            </tr>
          ))}
        </thead>
        <tbody>
          {table.getRowModel().rows.map((row) => (
            <tr key={row.id}>
              {row.getVisibleCells().map(({ id, column, getContext }) => (
                <td key={id} className={isNumber(column.columnDef) ? 'number' : ''}>
                  {flexRender(column.columnDef.cell, getContext())}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function isNumber({ meta }: { readonly meta?: unknown }): boolean {
  return (meta as { isNumber?: boolean } | undefined)?.isNumber === true
}
