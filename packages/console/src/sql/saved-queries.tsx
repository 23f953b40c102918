import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { Bookmark, Save, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { projectPath, type ProjectAddress } from '../api/project-address.ts'
import { request } from '../api/request.ts'
import { usePermissions } from '../api/session.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextInput } from '../parts/field.tsx'
import { ago } from '../parts/format.ts'
import { ErrorNotice, Progress } from '../parts/notice.tsx'

interface SavedQuery {
  readonly queryId: string
  readonly name: string
  readonly sql: string
  readonly savedAt: string
}

function savedQuery(address: ProjectAddress) {
  return queryOptions({
    queryKey: ['saved', address],
    queryFn: async ({ signal }) =>
      (
        await request<{ queries: readonly SavedQuery[] }>(`/analytics/${projectPath(address)}/sql/queries`, {
          signal,
        })
      ).queries,
  })
}

/** The saved statements of the project: open one, save the present one, forget one. */
export function SavedQueries({
  address,
  sql,
  onPick,
}: {
  readonly address: ProjectAddress
  readonly sql: string
  readonly onPick: (sql: string) => void
}) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button onPress={() => setOpen(true)}>
        <Bookmark aria-hidden /> Saved
      </Button>
      <Dialog title="Saved statements" isOpen={isOpen} onClose={() => setOpen(false)} place="side">
        <Saved
          address={address}
          sql={sql}
          onPick={(picked) => {
            setOpen(false)
            onPick(picked)
          }}
        />
      </Dialog>
    </>
  )
}

function Saved({ address, sql, onPick }: Parameters<typeof SavedQueries>[0]) {
  const client = useQueryClient()
  const { mayWrite } = usePermissions()
  const { data: saved, error } = useQuery(savedQuery(address))
  const [name, setName] = useState('')
  const [failure, setFailure] = useState<unknown>(null)
  const path = `/analytics/${projectPath(address)}/sql`
  const change = async (act: () => Promise<unknown>) => {
    try {
      await act()
      setFailure(null)
      setName('')
      await client.invalidateQueries({ queryKey: ['saved'] })
    } catch (thrown) {
      setFailure(thrown)
    }
  }
  return (
    <div className="stack">
      {mayWrite && (
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault()
            if (name.trim() === '' || sql.trim() === '') return
            void change(() =>
              request(`${path}/save`, { method: 'POST', body: { sqlQuery: { name: name.trim(), sql } } }),
            )
          }}
        >
          <div className="grow">
            <TextInput
              label="Name for the present statement"
              isLabelHidden
              placeholder="Name for the present statement"
              value={name}
              onChange={setName}
            />
          </div>
          <Button look="primary" type="submit" isDisabled={name.trim() === '' || sql.trim() === ''}>
            <Save aria-hidden /> Save
          </Button>
        </form>
      )}
      {(failure ?? error) !== null && <ErrorNotice error={failure ?? error} />}
      {!saved && !error && <Progress label="Loading saved statements" />}
      {saved?.length === 0 && (
        <p className="soft">None yet. Programs run a saved statement by its name or id.</p>
      )}
      {saved?.map((each) => (
        <div key={each.queryId} className="card pad">
          <div className="row between">
            <Button look="link" onPress={() => onPick(each.sql)}>
              {each.name === '' ? each.queryId : each.name}
            </Button>
            <span className="row">
              <span className="soft small">{ago(each.savedAt)}</span>
              {mayWrite && (
                <IconButton
                  name={`Forget ${each.name}`}
                  onPress={() =>
                    void change(() => request(`${path}/queries/${each.queryId}`, { method: 'DELETE' }))
                  }
                >
                  <Trash2 aria-hidden />
                </IconButton>
              )}
            </span>
          </div>
          <p className="mono soft cut">{each.sql}</p>
        </div>
      ))}
    </div>
  )
}
