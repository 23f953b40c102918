import type { AttemptResult, AttemptView } from '@millrace/contract'
import { useQuery } from '@tanstack/react-query'
import { createColumnHelper } from '@tanstack/react-table'
import { useMemo, useState } from 'react'
import type { ProjectAddress } from '../api/project-address.ts'
import { Button } from '../parts/button.tsx'
import { Code } from '../parts/code.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ago, byteSize, counted, localInstant, wholeNumber } from '../parts/format.ts'
import { ErrorNotice, Progress } from '../parts/notice.tsx'
import { Badge, Card } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'
import { attemptsQuery, type AttemptFilter } from './api.ts'
import { AttemptFilterBar } from './attempt-filter.tsx'

const PAGE = 50
const MOST = 1000
const EVERY_ATTEMPT: AttemptFilter = { outcome: 'all', status: '', range: null }
const column = createColumnHelper<AttemptView>()

/** The calls to the receiver of a channel, newest first, with their details. */
export function AttemptList({
  address,
  channel,
}: {
  readonly address: ProjectAddress
  readonly channel: string
}) {
  const [filter, setFilter] = useState<AttemptFilter>(EVERY_ATTEMPT)
  const [limit, setLimit] = useState(PAGE)
  const [open, setOpen] = useState<AttemptView | null>(null)
  const { data: attempts, error } = useQuery(attemptsQuery(address, channel, filter, limit))
  const columns = useMemo(
    () => [
      column.accessor('startedAt', {
        header: 'Started',
        cell: ({ getValue, row }) => (
          <Button look="link" onPress={() => setOpen(row.original)}>
            {ago(getValue())}
          </Button>
        ),
      }),
      column.accessor('outcome', {
        header: 'Outcome',
        cell: ({ row }) => <Outcome attempt={row.original} />,
      }),
      column.accessor('reason', { header: 'Reason', cell: ({ getValue }) => getValue() || '–' }),
      column.accessor('durationMs', {
        header: 'Took',
        cell: ({ getValue }) => `${wholeNumber(getValue())} ms`,
        meta: { isNumber: true },
      }),
      column.accessor('messages', { header: 'Messages', meta: { isNumber: true } }),
      column.accessor('bytes', {
        header: 'Size',
        cell: ({ getValue }) => byteSize(getValue()),
        meta: { isNumber: true },
      }),
    ],
    [],
  )
  return (
    <Card isPadded={false}>
      <AttemptFilterBar filter={filter} onChange={setFilter} />
      {error && <ErrorNotice error={error} />}
      {!attempts && !error && <Progress label="Loading attempts" />}
      {attempts?.length === 0 && (
        <p className="card-body soft">
          {filter.outcome === 'all' && filter.status === '' && filter.range === null
            ? 'Nothing was sent yet. “Send a test” above makes a first call.'
            : 'No attempt fits the filter.'}
        </p>
      )}
      {attempts && attempts.length > 0 && <Table label="Attempts" rows={attempts} columns={columns} />}
      {attempts && attempts.length >= limit && limit < MOST && (
        <div className="toolbar">
          <Button onPress={() => setLimit(Math.min(MOST, limit * 4))}>Show more</Button>
        </div>
      )}
      <Dialog title="Attempt" isOpen={open !== null} onClose={() => setOpen(null)} place="side">
        {open && <AttemptDetail attempt={open} />}
      </Dialog>
    </Card>
  )
}

function Outcome({ attempt: { outcome, status } }: { readonly attempt: AttemptResult }) {
  return (
    <Badge look={outcome === 'acknowledged' ? 'good' : 'bad'}>
      {outcome.replace('_', ' ')}
      {status === null ? '' : ` ${status}`}
    </Badge>
  )
}

/** Everything that is known of one call. */
export function AttemptDetail({ attempt }: { readonly attempt: AttemptResult }) {
  return (
    <div className="stack">
      <div>
        <Outcome attempt={attempt} />
      </div>
      <dl className="facts">
        <dt>Started</dt>
        <dd>{localInstant(attempt.startedAt)}</dd>
        <dt>Took</dt>
        <dd>{wholeNumber(attempt.durationMs)} ms</dd>
        <dt>Reason</dt>
        <dd>{attempt.reason || '–'}</dd>
        <dt>webhook-id</dt>
        <dd className="mono">{attempt.webhookId}</dd>
        <dt>Body</dt>
        <dd>{`${counted(attempt.messages, 'message')}, ${byteSize(attempt.bytes)}`}</dd>
        <dt>Event ids</dt>
        <dd className="mono">{`${attempt.firstEventId} to ${attempt.lastEventId}`}</dd>
      </dl>
      <h3>Answer</h3>
      {attempt.answer === '' ? (
        <p className="soft">without a body</p>
      ) : (
        <Code label="answer" text={attempt.answer} />
      )}
    </div>
  )
}
