import type { Row } from '../api/sql.ts'
import { CopyButton } from '../parts/code.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Cell, cellText } from './cell.tsx'

/** One row in full: long values are cut in the grid. */
export function RecordDialog({
  columns,
  types,
  row,
  title,
  onClose,
}: {
  readonly columns: readonly string[]
  readonly types: Readonly<Record<string, string>>
  /** Null: closed. */
  readonly row: Row | null
  readonly title: string
  readonly onClose: () => void
}) {
  return (
    <Dialog title={title} isOpen={row !== null} onClose={onClose} place="side">
      {row && (
        <>
          <div>
            <CopyButton text={JSON.stringify(row, null, 2)}>Copy as JSON</CopyButton>
          </div>
          <dl className="record">
            {columns.map((name) => (
              <div key={name} className="record-field">
                <dt>
                  <span className="mono">{name}</span>{' '}
                  <span className="soft small">{types[name]?.toLowerCase()}</span>
                </dt>
                <dd className="mono">
                  <span className="grow">
                    <Cell value={row[name]} />
                  </span>
                  <CopyButton text={cellText(row[name])} name={`Copy ${name}`} />
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </Dialog>
  )
}
