import type { ChannelView, VersionView } from '@millrace/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import {
  channelsQuery,
  countedTables,
  intakeQuery,
  projectQuery,
  tablesQuery,
  useProject,
} from '../api/project.ts'
import { serviceQuery, usageQuery } from '../api/service.ts'
import { sessionQuery, usePermissions } from '../api/session.ts'
import { ago, byteSize, compactNumber, wholeNumber } from '../parts/format.ts'
import { ErrorNotice, Progress } from '../parts/notice.tsx'
import { Badge, Card, Page, Stat } from '../parts/page.tsx'
import { healthQuery } from '../shell/health.ts'
import { ChannelBadge } from '../webhooks/channel-badge.tsx'
import { FirstData } from './first-data.tsx'
import { IntakeChart } from './intake-chart.tsx'
import { IntakeTable } from './intake-table.tsx'

/** What comes into a project and what goes out of it, live. */
export function ProjectOverview() {
  const address = useProject()
  const { mayRead, mayAdmin, mayOperate } = usePermissions()
  const { data: key } = useQuery(sessionQuery)
  const project = useQuery(projectQuery(address))
  const tables = useQuery({ ...tablesQuery(address), enabled: mayRead, refetchInterval: 30_000 })
  const intake = useQuery(intakeQuery(address, tables.data ?? []))
  const channels = useQuery({ ...channelsQuery(address), enabled: mayAdmin })
  const { data: health = 'ready' } = useQuery(healthQuery)
  const { data: usage } = useQuery({ ...usageQuery(address), enabled: mayRead })
  const { data: service } = useQuery({ ...serviceQuery, enabled: mayOperate })

  const rows = intake.data ?? []
  // A project without tables has nothing to count, and is not asked.
  const isCounted = intake.isSuccess || (tables.isSuccess && !intake.isError && intake.fetchStatus === 'idle')
  const add = (name: string) => rows.reduce((sum, row) => sum + Number(row[name]), 0)
  const newest = rows
    .map((row) => String(row['newest']))
    .toSorted()
    .at(-1)
  const pending = channels.data?.reduce((sum, { pendingMessages }) => sum + pendingMessages, 0) ?? 0
  const letters = channels.data?.reduce((sum, { deadLetters }) => sum + deadLetters, 0) ?? 0
  const failing = channels.data?.filter(({ status }) => status === 'failing' || status === 'disabled') ?? []
  const error = project.error ?? tables.error ?? intake.error
  return (
    <Page
      title={`${address.owner}/${address.project}`}
      lead={
        project.data &&
        `Version ${project.data.activeVersion ?? '–'} is active · ${project.data.isPublic ? 'readable by everybody' : 'readable with a key'}`
      }
    >
      <dl className="stats">
        <Stat
          name="Records, last hour"
          isKnown={isCounted}
          note={newest === undefined ? 'nothing yet' : `newest ${ago(newest)}`}
        >
          {compactNumber(add('hour'))}
        </Stat>
        <Stat name="Records, last 24 h" isKnown={isCounted} note={`${wholeNumber(add('total'))} in all`}>
          {compactNumber(add('day'))}
        </Stat>
        {mayAdmin && (
          <Stat
            name="Messages waiting"
            isKnown={channels.data !== undefined}
            note={oldest(channels.data ?? [])}
          >
            {wholeNumber(pending)}
          </Stat>
        )}
        {mayAdmin && (
          <Stat
            name="Channels"
            isKnown={channels.data !== undefined}
            note={failing.length === 0 ? 'none is failing' : failing.map(({ name }) => name).join(', ')}
          >
            {failing.length === 0 ? (channels.data?.length ?? 0) : `${failing.length} failing`}
          </Stat>
        )}
        {mayAdmin && (
          <Stat
            name="Dead letters"
            isKnown={channels.data !== undefined}
            note={letters === 0 ? 'none to look after' : 'redrive or dismiss'}
          >
            {wholeNumber(letters)}
          </Stat>
        )}
        <Stat
          name="Stored"
          note={
            service?.disk
              ? `${byteSize(service.disk.freeBytes)} free`
              : `${wholeNumber(usage?.rows ?? 0)} rows`
          }
        >
          {usage ? byteSize(usage.bytes) : '–'}
        </Stat>
        <Stat name="Engines" note={health === 'ready' ? 'both answer' : 'see the log'}>
          <Badge look={health === 'ready' ? 'good' : 'bad'}>{health}</Badge>
        </Stat>
      </dl>
      {error && <ErrorNotice error={error} />}
      {mayRead && tables.isPending && <Progress label="Loading the tables" />}
      {tables.data?.length === 0 && <FirstData address={address} keyName={key?.name ?? ''} />}
      {tables.data && tables.data.length > 0 && (
        <>
          <IntakeChart address={address} tables={tables.data} />
          <div className="columns">
            <IntakeTable
              rows={rows}
              isPending={intake.isPending}
              left={
                tables.data.filter(({ kind }) => kind !== 'entity').length - countedTables(tables.data).length
              }
            />
            <div className="stack">
              {mayAdmin && <Outgoing channels={channels.data ?? []} />}
              {project.data && <Versions versions={project.data.versions} />}
            </div>
          </div>
        </>
      )}
    </Page>
  )
}

function oldest(channels: readonly { readonly oldestPendingAt: string | null }[]): string {
  const first = channels
    .flatMap(({ oldestPendingAt }) => oldestPendingAt ?? [])
    .toSorted()
    .at(0)
  return first === undefined ? 'the queue is empty' : `the oldest came ${ago(first)}`
}

const VERSIONS_SHOWN = 5

/** The newest processor versions; all of them are under Data. */
function Versions({ versions }: { readonly versions: readonly VersionView[] }) {
  const address = useProject()
  return (
    <Card
      title="Versions"
      isPadded={false}
      actions={
        <Link to="/p/$owner/$project/data" params={address} search={{ tab: 'versions' }}>
          All versions
        </Link>
      }
    >
      <div className="table-box">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Version</th>
              <th scope="col">State</th>
              <th scope="col" className="number">
                Made
              </th>
            </tr>
          </thead>
          <tbody>
            {versions
              .toReversed()
              .slice(0, VERSIONS_SHOWN)
              .map(({ number, state, createdAt }) => (
                <tr key={number}>
                  <td>{number}</td>
                  <td>
                    <Badge look={state === 'active' ? 'good' : 'plain'}>{state}</Badge>
                  </td>
                  <td className="number">{ago(createdAt)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </Card>
  )
}

function Outgoing({ channels }: { readonly channels: readonly ChannelView[] }) {
  const address = useProject()
  return (
    <Card
      title="Going out"
      isPadded={false}
      actions={
        <Link to="/p/$owner/$project/webhooks" params={address}>
          All channels
        </Link>
      }
    >
      {channels.length === 0 ? (
        <p className="card-body soft">
          No channel yet. One appears with the first export, or create it under Webhooks.
        </p>
      ) : (
        <div className="table-box">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Channel</th>
                <th scope="col">State</th>
                <th scope="col" className="number">
                  Waiting
                </th>
                <th scope="col" className="number">
                  Dead letters
                </th>
                <th scope="col" className="number">
                  Next attempt
                </th>
              </tr>
            </thead>
            <tbody>
              {channels.map((channel) => (
                <tr key={channel.name}>
                  <td>
                    <Link
                      to="/p/$owner/$project/webhooks/$channel"
                      params={{ ...address, channel: channel.name }}
                    >
                      {channel.name}
                    </Link>
                  </td>
                  <td>
                    <ChannelBadge status={channel.status} />
                  </td>
                  <td className="number">{wholeNumber(channel.pendingMessages)}</td>
                  <td className="number">{wholeNumber(channel.deadLetters)}</td>
                  <td className="number">
                    {channel.nextAttemptAt && channel.pendingMessages > 0 ? ago(channel.nextAttemptAt) : '–'}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  )
}
