import type { ProjectView } from '@millrace/contract'
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { createColumnHelper } from '@tanstack/react-table'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { channelsQuery, projectsQuery } from '../api/project.ts'
import { serviceQuery, usageQuery } from '../api/service.ts'
import { usePermissions } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { Code } from '../parts/code.tsx'
import { byteSize, compactNumber, wholeNumber } from '../parts/format.ts'
import { Empty, ErrorNotice, Progress } from '../parts/notice.tsx'
import { Badge, Card, Page, Stat } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'
import { healthQuery } from '../shell/health.ts'
import { CreateProject } from './create-project.tsx'
import { ServiceCard } from './service-card.tsx'

interface ProjectRow extends ProjectView {
  readonly channels: number
  readonly pending: number
  readonly failing: number
  readonly deadLetters: number
  /** Null while it is not known. */
  readonly storedRows: number | null
  readonly storedBytes: number | null
}

const column = createColumnHelper<ProjectRow>()

/** All projects of the key, and how the service is. */
export function ProjectsPage() {
  const client = useQueryClient()
  const { mayManageKeys, mayAdmin, mayRead, mayOperate } = usePermissions()
  const [isCreating, setCreating] = useState(false)
  const { data: projects, error, refetch } = useQuery({ ...projectsQuery, refetchInterval: 10_000 })
  const { data: health = 'ready' } = useQuery(healthQuery)
  const channels = useQueries({
    queries: (projects ?? []).map(({ owner, name }) => ({
      ...channelsQuery({ owner, project: name }),
      refetchInterval: 10_000,
      enabled: mayAdmin,
    })),
  })
  const usages = useQueries({
    queries: (projects ?? []).map(({ owner, name }) => ({
      ...usageQuery({ owner, project: name }),
      enabled: mayRead,
    })),
  })
  const { data: service } = useQuery({ ...serviceQuery, enabled: mayOperate })
  const rows = (projects ?? []).map((project, index): ProjectRow => {
    const own = channels[index]?.data ?? []
    return {
      ...project,
      channels: own.length,
      pending: own.reduce((sum, { pendingMessages }) => sum + pendingMessages, 0),
      failing: own.filter(({ status }) => status === 'failing' || status === 'disabled').length,
      deadLetters: own.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
      storedRows: usages[index]?.data?.rows ?? null,
      storedBytes: usages[index]?.data?.bytes ?? null,
    }
  })
  const sum = (pick: (row: ProjectRow) => number) => rows.reduce((total, row) => total + pick(row), 0)
  const isStorageKnown = usages.every(({ data }) => data !== undefined)
  const areChannelsKnown = projects !== undefined && channels.every(({ data }) => data !== undefined)
  const create = mayManageKeys && (
    <Button look="primary" onPress={() => setCreating(true)}>
      <Plus aria-hidden /> New project
    </Button>
  )
  return (
    <Page title="Projects" actions={create}>
      <dl className="stats">
        <Stat name="Service" note={health === 'ready' ? 'both engines answer' : 'see the log of the service'}>
          <Badge look={health === 'ready' ? 'good' : 'bad'}>{health}</Badge>
        </Stat>
        <Stat
          name="Projects"
          isKnown={projects !== undefined}
          note={
            isStorageKnown
              ? `${compactNumber(sum((row) => row.storedRows ?? 0))} stored rows`
              : 'rows not known yet'
          }
        >
          {wholeNumber(rows.length)}
        </Stat>
        {mayAdmin && (
          <>
            <Stat
              name="Messages waiting"
              isKnown={areChannelsKnown}
              note={`in ${sum((row) => row.channels)} channels`}
            >
              {wholeNumber(sum((row) => row.pending))}
            </Stat>
            <Stat
              name="Failing channels"
              isKnown={areChannelsKnown}
              note={failingNote(sum((row) => row.failing))}
            >
              {wholeNumber(sum((row) => row.failing))}
            </Stat>
            <Stat name="Dead letters" isKnown={areChannelsKnown} note="kept for seven days">
              {wholeNumber(sum((row) => row.deadLetters))}
            </Stat>
          </>
        )}
      </dl>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!projects && !error && <Progress label="Loading projects" />}
      {projects && (
        <Card isPadded={false}>
          {rows.length === 0 ? (
            <FirstProject isAllowed={mayManageKeys} />
          ) : (
            <Table label="Projects" rows={rows} columns={columnsFor(mayAdmin)} />
          )}
        </Card>
      )}
      {service && <ServiceCard status={service} />}
      <CreateProject
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onCreated={() => void client.invalidateQueries({ queryKey: projectsQuery.queryKey })}
      />
    </Page>
  )
}

function failingNote(count: number): string {
  return count === 0 ? 'every channel delivers' : 'their messages wait'
}

function columnsFor(mayAdmin: boolean) {
  return [
    column.accessor(({ owner, name }) => `${owner}/${name}`, {
      id: 'project',
      header: 'Project',
      cell: ({ row: { original }, getValue }) => (
        <Link to="/p/$owner/$project" params={{ owner: original.owner, project: original.name }}>
          <strong>{getValue()}</strong>
        </Link>
      ),
    }),
    column.accessor('isPublic', {
      header: 'Readable by',
      cell: ({ getValue }) => (getValue() ? 'everybody' : 'keys'),
    }),
    column.accessor('activeVersion', {
      header: 'Active version',
      cell: ({ getValue }) => getValue() ?? <span className="soft">no data yet</span>,
      meta: { isNumber: true },
    }),
    column.accessor('storedBytes', {
      header: 'Stored',
      cell: ({ getValue, row }) => {
        const bytes = getValue()
        return bytes === null ? (
          '–'
        ) : (
          <>
            {byteSize(bytes)}{' '}
            <span className="soft small">{wholeNumber(row.original.storedRows ?? 0)} rows</span>
          </>
        )
      },
      meta: { isNumber: true },
    }),
    ...(mayAdmin
      ? [
          column.accessor('channels', { header: 'Channels', meta: { isNumber: true } }),
          column.accessor('pending', {
            header: 'Messages waiting',
            cell: ({ getValue }) => wholeNumber(getValue()),
            meta: { isNumber: true },
          }),
          column.accessor('deadLetters', {
            header: 'Dead letters',
            cell: ({ getValue }) => wholeNumber(getValue()),
            meta: { isNumber: true },
          }),
          column.accessor('failing', {
            header: 'Delivery',
            cell: ({ getValue }) =>
              getValue() > 0 ? (
                <Badge look="bad">{`${getValue()} failing`}</Badge>
              ) : (
                <Badge look="good">healthy</Badge>
              ),
          }),
        ]
      : []),
  ]
}

function FirstProject({ isAllowed }: { readonly isAllowed: boolean }) {
  return (
    <Empty title="No project yet">
      <p>
        A project holds the data of one processor: its metrics, event logs and exports.
        {isAllowed ? ' Create one above, or on the command line:' : ' Ask an administrator to create one.'}
      </p>
      {isAllowed && <Code label="command" text="npm run millrace -- project create acme/dex" />}
    </Empty>
  )
}
