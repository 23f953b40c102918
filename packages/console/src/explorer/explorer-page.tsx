import type { QueryRangeAnswer } from '@millrace/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useDeferredValue, useMemo, useState } from 'react'
import { tablesQuery, useProject } from '../api/project.ts'
import { projectPath } from '../api/project-address.ts'
import { request as send } from '../api/request.ts'
import { sessionQuery } from '../api/session.ts'
import { FirstData } from '../overview/first-data.tsx'
import { span } from '../parts/format.ts'
import { Empty, ErrorNotice, Notice, Progress, Warnings } from '../parts/notice.tsx'
import { Page } from '../parts/page.tsx'
import { TimeChart } from '../parts/time-chart.tsx'
import { chartData } from './chart-data.ts'
import type { ExplorerState } from './explorer-state.ts'
import { ExportMenu } from './export-menu.tsx'
import { functionsQuery } from './functions.ts'
import { Legend } from './legend.tsx'
import { QueryList } from './query-list.tsx'
import { rangeRequest } from './range-request.ts'
import { SeriesTable } from './series-table.tsx'
import { LOCAL_ZONE } from '../parts/time-picker.tsx'
import { Toolbar } from './toolbar.tsx'

const NOTHING_HIDDEN: ReadonlySet<number> = new Set()

/** Metrics over time: queries, formulas, charts, tables. */
export function ExplorerPage() {
  const address = useProject()
  const state = useSearch({ from: '/signed-in/p/$owner/$project/metrics' })
  const navigate = useNavigate({ from: '/p/$owner/$project/metrics' })
  const { data: key } = useQuery(sessionQuery)
  const tables = useQuery(tablesQuery(address))
  const [refreshMs, setRefreshMs] = useState(0)
  const change = (changed: Partial<ExplorerState>) =>
    void navigate({ search: (before) => ({ ...before, ...changed }) })

  const { data: functions } = useQuery(functionsQuery)
  const known = useMemo(() => new Map(functions?.map((each) => [each.name, each])), [functions])
  const request = useMemo(
    () => (functions ? rangeRequest(state, LOCAL_ZONE, known) : null),
    [state, functions, known],
  )
  const answer = useQuery({
    queryKey: ['range', address, request],
    enabled: request !== null,
    queryFn: ({ signal }) =>
      send<QueryRangeAnswer>(`/metrics/${projectPath(address)}/query_range`, {
        method: 'POST',
        // A view that refreshes wants what is there now; otherwise a stored answer of the last seconds will do.
        body: {
          ...request,
          cachePolicy: { cache_refresh_ttl_secs: 5, cache_ttl_secs: refreshMs > 0 ? 5 : 30 },
        },
        signal,
      }),
    placeholderData: keepPreviousData,
    refetchInterval: refreshMs > 0 && refreshMs,
  })
  const data = useMemo(() => (answer.data ? chartData(answer.data) : null), [answer.data])

  if (tables.data && !tables.data.some(({ kind }) => kind === 'metric')) {
    return (
      <Page title="Metrics">
        <FirstData address={address} keyName={key?.name ?? ''} />
      </Page>
    )
  }
  return (
    <Page title="Metrics" actions={<ExportMenu address={address} request={request} data={data} />}>
      <section className="card" aria-label="Queries">
        <QueryList
          address={address}
          state={state}
          tables={tables.data ?? []}
          known={known}
          onChange={change}
        />
      </section>
      {tables.error && <ErrorNotice error={tables.error} onRetry={() => void tables.refetch()} />}
      <section className="card" aria-label="Result">
        <Toolbar state={state} onChange={change} refreshMs={refreshMs} onRefreshChange={setRefreshMs} />
        {answer.isFetching && <Progress label="Running the queries" />}
        {request === null ? (
          <Empty title="Choose a metric">
            <p>Search one by name above, or begin with one of these.</p>
            <div className="row">
              {(tables.data ?? [])
                .filter(({ kind }) => kind === 'metric')
                .slice(0, 8)
                .map(({ name }) => (
                  <button
                    key={name}
                    type="button"
                    className="button"
                    onClick={() => change({ queries: [{ metric: name }] })}
                  >
                    {name}
                  </button>
                ))}
            </div>
          </Empty>
        ) : (
          <Result
            state={state}
            answer={answer.data ?? null}
            error={answer.error}
            onChange={change}
            onRetry={() => void answer.refetch()}
          />
        )}
      </section>
    </Page>
  )
}

function Result({
  state,
  answer,
  error,
  onChange,
  onRetry,
}: {
  readonly state: ExplorerState
  readonly answer: QueryRangeAnswer | null
  readonly error: unknown
  readonly onChange: (changed: Partial<ExplorerState>) => void
  readonly onRetry: () => void
}) {
  const [hidden, setHidden] = useState(NOTHING_HIDDEN)
  const [cursor, setCursor] = useState<number | null>(null)
  // The pointer does not wait for a hundred rows of values.
  const legendCursor = useDeferredValue(cursor)
  const data = useMemo(() => (answer ? chartData(answer) : null), [answer])
  const toggle = useCallback(
    (place: number) => setHidden((before) => new Set(before).symmetricDifference(new Set([place]))),
    [],
  )
  const view = state.view ?? 'line'
  const faults =
    answer?.results.flatMap(({ id, error: fault }) => (fault ? [`${id ?? ''}: ${fault}`] : [])) ?? []
  return (
    <>
      <div className="stack tight card-body">
        {error !== null && error !== undefined && <ErrorNotice error={error} onRetry={onRetry} />}
        {faults.map((fault) => (
          <ErrorNotice key={fault} error={new Error(fault)} />
        ))}
        <Warnings warnings={answer?.warnings} />
        {data && data.left > 0 && (
          <Notice look="warn">{`${data.left} more series are not shown; filter or aggregate to see them.`}</Notice>
        )}
        {answer && data && (
          <p className="soft small">
            {`${data.series.length} series · ${data.times.length} points · step ${span(answer.timeRange.step * 1000)}${answer.timeRange.adjusted ? ', raised to fit 1000 points' : ''} · ${answer.timeRange.timezone}`}
            {answer.results[0] &&
              ` · computed in ${answer.results[0].computeStats.computeCostMs} ms${answer.results[0].computeStats.isCached ? ', from the cache' : ''}`}
          </p>
        )}
        {data?.series.length === 0 && faults.length === 0 && (
          <Notice>No data in this range. Choose a longer one, or check the label filters.</Notice>
        )}
        {!answer && !error && <div className="chart-room" />}
        {data && data.series.length > 0 && view !== 'table' && (
          <TimeChart
            label={`${view} chart of ${data.series.length} series, ${data.times.length} points each; the table view has the values`}
            times={data.times}
            series={data.series}
            hidden={hidden}
            kind={view}
            timezone={state.timezone ?? LOCAL_ZONE}
            height={380}
            onZoom={(start, end) =>
              onChange({ from: String(Math.round(start)), to: String(Math.round(end)) })
            }
            onCursor={setCursor}
          />
        )}
      </div>
      {data && data.series.length > 0 && view !== 'table' && (
        <Legend series={data.series} hidden={hidden} cursor={legendCursor} onToggle={toggle} />
      )}
      {data && data.series.length > 0 && view === 'table' && (
        <SeriesTable data={data} timezone={state.timezone ?? LOCAL_ZONE} />
      )}
    </>
  )
}
