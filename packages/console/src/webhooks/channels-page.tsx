import type { ChannelView } from '@millrace/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { createColumnHelper } from '@tanstack/react-table'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { channelsQuery, useProject } from '../api/project.ts'
import { projectPath, type ProjectAddress } from '../api/project-address.ts'
import { sessionQuery, usePermissions } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { Code } from '../parts/code.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ago, wholeNumber } from '../parts/format.ts'
import { Empty, ErrorNotice, Notice, Progress, Warnings } from '../parts/notice.tsx'
import { Card, Page } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'
import { ChannelBadge } from './channel-badge.tsx'
import { ChannelForm } from './channel-form.tsx'
import { SecretDialog, VERIFY_LINES } from './secret-dialog.tsx'

/** The webhook channels of a project, live. */
export function ChannelsPage() {
  const address = useProject()
  const client = useQueryClient()
  const { mayAdmin } = usePermissions()
  const [isCreating, setCreating] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const [warnings, setWarnings] = useState<readonly string[]>()
  const { data: channels, error, refetch } = useQuery({ ...channelsQuery(address), enabled: mayAdmin })
  if (!mayAdmin) {
    return (
      <Page title="Webhooks">
        <Notice>
          Channels are managed with a key that has the permission admin. This key may pull dead letters:
        </Notice>
        <Code
          label="command"
          text={`curl -s '${location.origin}/api/v1/webhook/deadletter/${projectPath(address)}?limit=10' -H "api-key: $MILLRACE_API_KEY"`}
        />
      </Page>
    )
  }
  return (
    <Page
      title="Webhooks"
      lead="Exports go to the receivers of their channels: signed, in order, at least once."
      actions={
        <Button look="primary" onPress={() => setCreating(true)}>
          <Plus aria-hidden /> New channel
        </Button>
      }
    >
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      <Warnings warnings={warnings} />
      {!channels && !error && <Progress label="Loading channels" />}
      {channels && (
        <Card isPadded={false}>
          {channels.length === 0 ? (
            <FirstChannel address={address} />
          ) : (
            <Table label="Channels" rows={channels} columns={columnsFor(address)} />
          )}
        </Card>
      )}
      <Dialog title="New channel" isOpen={isCreating} onClose={() => setCreating(false)} place="side">
        <ChannelForm
          others={channels?.map(({ name }) => name) ?? []}
          onCancel={() => setCreating(false)}
          onDone={(created) => {
            setCreating(false)
            setSecret(created.secret ?? null)
            setWarnings(created.warnings)
            void client.invalidateQueries({ queryKey: ['channels'] })
          }}
        />
      </Dialog>
      <SecretDialog
        title="Signing secret of the channel"
        secret={secret}
        use={VERIFY_LINES}
        onClose={() => setSecret(null)}
      />
    </Page>
  )
}

const column = createColumnHelper<ChannelView>()

function columnsFor(address: ProjectAddress) {
  return [
    column.accessor('name', {
      header: 'Channel',
      cell: ({ getValue }) => (
        <Link to="/p/$owner/$project/webhooks/$channel" params={{ ...address, channel: getValue() }}>
          <strong>{getValue()}</strong>
        </Link>
      ),
    }),
    column.accessor('status', {
      header: 'State',
      cell: ({ getValue, row }) => (
        <span className="row">
          <ChannelBadge status={getValue()} />
          {row.original.failures > 0 && <span className="soft small">{row.original.failures} in a row</span>}
        </span>
      ),
    }),
    column.accessor('url', {
      header: 'Receiver',
      cell: ({ getValue }) => <span className="mono">{getValue() ?? 'no address yet'}</span>,
    }),
    column.accessor('successRate', {
      header: 'Success',
      cell: ({ getValue }) => {
        const rate = getValue()
        return rate === null ? '–' : `${Math.round(rate * 100)} %`
      },
      meta: { isNumber: true },
    }),
    column.accessor('pendingMessages', {
      header: 'Waiting',
      cell: ({ getValue }) => wholeNumber(getValue()),
      meta: { isNumber: true },
    }),
    column.accessor('oldestPendingAt', {
      header: 'Oldest',
      cell: ({ getValue }) => {
        const at = getValue()
        return at === null ? '–' : ago(at)
      },
      meta: { isNumber: true },
    }),
    column.accessor('deadLetters', {
      header: 'Dead letters',
      cell: ({ getValue }) => wholeNumber(getValue()),
      meta: { isNumber: true },
    }),
  ]
}

function FirstChannel({ address }: { readonly address: ProjectAddress }) {
  const { data: key } = useQuery(sessionQuery)
  return (
    <Empty title="No channel yet">
      <p>
        A channel is where exports go. Create one above, or with the key “{key?.name}” on the command line;
        then name it in the processor.
      </p>
      <Code
        label="command"
        text={`npm run millrace -- channel create ${projectPath(address)} alerts --to https://example.com/hook`}
      />
      <Code
        label="processor"
        text={`const alerts = Exporter.register('large_transfer', 'alerts')
alerts.emit(context, { amount: '1000000' })`}
      />
    </Empty>
  )
}
