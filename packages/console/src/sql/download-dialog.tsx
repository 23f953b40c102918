import { useRef, useState } from 'react'
import { projectPath, type ProjectAddress } from '../api/project-address.ts'
import { requestFile } from '../api/request.ts'
import type { Statement } from '../api/sql.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { download } from '../parts/download.ts'
import { Choose } from '../parts/field.tsx'
import { ErrorNotice, Progress } from '../parts/notice.tsx'

const FORMATS = [
  { id: 'csv', name: 'CSV' },
  { id: 'parquet', name: 'Parquet' },
  { id: 'ndjson', name: 'NDJSON' },
  { id: 'arrow', name: 'Arrow' },
]

/** Fetches a whole result as one file. */
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
  const [format, setFormat] = useState('csv')
  const [isPending, setPending] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const controller = useRef<AbortController>(null)
  const close = () => {
    controller.current?.abort()
    setError(null)
    setPending(false)
    onClose()
  }
  const fetchFile = async () => {
    const { signal } = (controller.current = new AbortController())
    setPending(true)
    setError(null)
    try {
      const { size: _, ...sqlQuery } = statement
      const path = `/analytics/${projectPath(address)}/sql/execute?format=${format}`
      download(
        `${address.project}.${format}`,
        await requestFile(path, { method: 'POST', body: { sqlQuery }, signal }),
      )
      close()
    } catch (thrown) {
      if (!signal.aborted) setError(thrown)
      setPending(false)
    }
  }
  return (
    <Dialog title="Download the whole result" isOpen={isOpen} onClose={close}>
      <p className="soft">The statement is run again, and all its rows come as one file, with every digit.</p>
      <Choose label="Format" value={format} choices={FORMATS} onChange={setFormat} />
      {isPending && <Progress label="Fetching the file" />}
      {error !== null && <ErrorNotice error={error} />}
      <div className="row end">
        <Button onPress={close}>Cancel</Button>
        <Button look="primary" isPending={isPending} onPress={() => void fetchFile()}>
          {isPending ? 'Fetching …' : 'Download file'}
        </Button>
      </div>
    </Dialog>
  )
}
