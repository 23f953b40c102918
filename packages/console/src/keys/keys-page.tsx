import type { KeyCreated, KeyView } from '@millrace/contract'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { createColumnHelper } from '@tanstack/react-table'
import { Plus } from 'lucide-react'
import { useMemo, useState } from 'react'
import { request } from '../api/request.ts'
import { sessionQuery } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { Confirm, Dialog } from '../parts/dialog.tsx'
import { Tick } from '../parts/field.tsx'
import { ago, localInstant } from '../parts/format.ts'
import { ErrorNotice, Progress } from '../parts/notice.tsx'
import { Badge, Card, Page } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'
import { SecretDialog } from '../webhooks/secret-dialog.tsx'
import { KeyForm } from './key-form.tsx'

const keysQuery = queryOptions({
  queryKey: ['keys'],
  queryFn: async ({ signal }) => (await request<{ keys: readonly KeyView[] }>('/keys', { signal })).keys,
  refetchInterval: 15_000,
})
const column = createColumnHelper<KeyView>()

/** The keys that the signed-in key manages. */
export function KeysPage() {
  const client = useQueryClient()
  const { data: keys, error, refetch } = useQuery(keysQuery)
  const { data: own } = useQuery(sessionQuery)
  const [areRevokedShown, setRevokedShown] = useState(false)
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<KeyCreated | null>(null)
  const [revoking, setRevoking] = useState<KeyView | null>(null)
  const shown = useMemo(
    () => keys?.filter(({ revokedAt }) => areRevokedShown || revokedAt === null),
    [keys, areRevokedShown],
  )
  const columns = useMemo(() => columnsFor(own?.id, setRevoking), [own?.id])
  return (
    <Page
      title="Keys"
      lead="Programs and people come with a key. Its secret is shown once, when it is made."
      actions={
        <Button look="primary" onPress={() => setCreating(true)}>
          <Plus aria-hidden /> New key
        </Button>
      }
    >
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!keys && !error && <Progress label="Loading keys" />}
      {shown && (
        <Card isPadded={false}>
          <div className="toolbar">
            <Tick isOn={areRevokedShown} onChange={setRevokedShown}>
              Show revoked keys
            </Tick>
          </div>
          <Table label="Keys" rows={shown} columns={columns} />
        </Card>
      )}
      <Dialog title="New key" isOpen={isCreating} onClose={() => setCreating(false)}>
        <KeyForm
          onCancel={() => setCreating(false)}
          onDone={(answer) => {
            setCreating(false)
            setCreated(answer)
            void client.invalidateQueries({ queryKey: keysQuery.queryKey })
          }}
        />
      </Dialog>
      <SecretDialog
        title={`Secret of the key “${created?.key.name ?? ''}”`}
        secret={created?.secret ?? null}
        use={`export MILLRACE_URL=${location.origin} MILLRACE_API_KEY=${created?.secret ?? ''}`}
        onClose={() => setCreated(null)}
      />
      <Confirm
        title={`Revoke ${revoking?.name ?? ''}?`}
        isOpen={revoking !== null}
        onClose={() => setRevoking(null)}
        action="Revoke key"
        onConfirm={async () => {
          await request(`/keys/${revoking?.id ?? ''}`, { method: 'DELETE' })
          await client.invalidateQueries({ queryKey: keysQuery.queryKey })
        }}
      >
        <p>
          Whoever uses it is refused at once{revoking?.id === own?.id ? ', this browser included' : ''}. This
          cannot be undone.
        </p>
      </Confirm>
    </Page>
  )
}

function columnsFor(ownId: string | undefined, onRevoke: (key: KeyView) => void) {
  return [
    column.accessor('name', {
      header: 'Name',
      cell: ({ getValue, row }) => (
        <span className="row">
          <strong>{getValue()}</strong>
          {row.original.id === ownId && <Badge>this session</Badge>}
        </span>
      ),
    }),
    column.accessor(({ permissions }) => permissions.join(', '), { id: 'permissions', header: 'May' }),
    column.accessor(({ owner, projects }) => projects?.join(', ') ?? owner ?? 'the whole service', {
      id: 'scope',
      header: 'In',
    }),
    column.accessor('lastUsedAt', {
      header: 'Last used',
      cell: ({ getValue }) => {
        const at = getValue()
        return at === null ? <span className="soft">never</span> : ago(at)
      },
    }),
    column.accessor('createdAt', { header: 'Made', cell: ({ getValue }) => ago(getValue()) }),
    column.accessor('expiresAt', {
      header: 'Ends',
      cell: ({ getValue, row: { original } }) => {
        if (original.revokedAt !== null)
          return <Badge look="bad">{`revoked ${ago(original.revokedAt)}`}</Badge>
        const at = getValue()
        return at === null ? <span className="soft">never</span> : localInstant(at)
      },
    }),
    column.display({
      id: 'actions',
      header: () => <span className="unseen">Actions</span>,
      cell: ({ row: { original } }) =>
        original.revokedAt === null && (
          <Button look="danger" onPress={() => onRevoke(original)}>
            Revoke
          </Button>
        ),
      meta: { isNumber: true },
    }),
  ]
}
