import { useRef, useState } from 'react'
import type { ProjectAddress } from '../api/project.ts'
import { nextPage, runSql, type Statement } from '../api/sql.ts'
import { csvCell } from '../explorer/chart-data.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { download } from '../parts/download.ts'
import { wholeNumber } from '../parts/format.ts'
import { ErrorNotice, Progress } from '../parts/notice.tsx'
import { cellText } from './result-view.tsx'

const PAGE_ROWS = 50_000

/** Fetches every page of a result and makes a file of it. */
export function DownloadDialog({
  address,
  statement,
  isOpen,
  onClose,
}: {
  readonly address: ProjectAddress
  readonly statement: Statement
  readonly isOpen: boolean
  readonly onClose: () => void
}) {
  const [rows, setRows] = useState<number | null>(null)
  const [error, setError] = useState<unknown>(null)
  const controller = useRef<AbortController>(null)
  const close = () => {
    controller.current?.abort()
    setRows(null)
    setError(null)
    onClose()
  }
  const fetchAll = async () => {
    const { signal } = (controller.current = new AbortController())
    setRows(0)
    setError(null)
    try {
      let { result } = await runSql(address, { ...statement, size: PAGE_ROWS }, signal)
      const { columns } = result
      const parts = [`${columns.map(csvCell).join(',')}\r\n`]
      for (let count = 0; ;) {
        parts.push(
          result.rows
            .map((row) => `${columns.map((name) => csvCell(cellText(row[name]))).join(',')}\r\n`)
            .join(''),
        )
        count += result.rows.length
        setRows(count)
        if (result.cursor === '') break
        result = (await nextPage(address, result.cursor, signal)).result
      }
      download(`${address.project}.csv`, new Blob(parts, { type: 'text/csv' }))
      close()
    } catch (thrown) {
      if (!signal.aborted) setError(thrown)
      setRows(null)
    }
  }
  return (
    <Dialog title="Download the whole result" isOpen={isOpen} onClose={close}>
      {error !== null && <ErrorNotice error={error} />}
      {rows === null ? (
        <p className="soft">All rows, not only those on the screen, in one CSV file (RFC 4180, UTF-8).</p>
      ) : (
        <>
          <Progress label="Fetching the rows" />
          <p className="soft">{wholeNumber(rows)} rows so far</p>
        </>
      )}
      <div className="row end">
        <Button onPress={close}>Cancel</Button>
        <Button look="primary" isPending={rows !== null} onPress={() => void fetchAll()}>
          Download CSV
        </Button>
      </div>
    </Dialog>
  )
}
