import type { EventQuery, InsightsRequest } from '@millrace/contract'
import type { AnswerScope } from '../cache/cache-policy.ts'
import { ServiceError } from '../platform/errors.ts'
import { planEventQuery } from './plan-event-query.ts'
import type { SeriesLimit } from './range-answer.ts'
import { formulaKey, metricQueryKey, namedKey } from './range-query.ts'
import { metricSpan, NO_SPAN, scopeOf, type Span } from './range-query-scope.ts'
import type { Grid, TimeRange } from './time-range.ts'

/** The meaning of requests that come again. */
const meanings = new WeakMap<InsightsRequest, string>()

/** The cache key of an insights query (CA-1), as `rangeQueryKey` makes it of a range query. */
export function insightsKey(
  request: InsightsRequest,
  timeRange: TimeRange,
  limit: SeriesLimit,
  projectId: number,
  version: number,
): string {
  const meaning = meanings.get(request) ?? meaningOf(request, timeRange, limit)
  meanings.set(request, meaning)
  return `insights ${projectId} ${version} ${meaning}`
}

function meaningOf(
  request: InsightsRequest,
  timeRange: TimeRange,
  { samplesLimit, samplesOffset }: SeriesLimit,
): string {
  return JSON.stringify([
    timeRange,
    samplesLimit,
    samplesOffset,
    (request.queries ?? []).map(({ metricsQuery, eventsQuery }) =>
      metricsQuery ? metricQueryKey(metricsQuery) : eventsQuery ? eventQueryKey(eventsQuery) : null,
    ),
    (request.formulas ?? []).map(formulaKey),
  ])
}

function eventQueryKey(query: EventQuery): readonly unknown[] {
  const { resource, aggregation, selectorExpr, groupBy, limit } = query
  return [
    'events',
    resource?.name ?? '',
    aggregation ?? null,
    selectorExpr ?? null,
    groupBy ?? [],
    limit ?? 0,
    ...namedKey(query),
  ]
}

/** What the answer to an insights query on a grid depends on (CA-6). */
export function insightsScope(request: InsightsRequest, grid: Grid): AnswerScope {
  const queries = request.queries ?? []
  const names = queries.flatMap(({ metricsQuery, eventsQuery }) => {
    const name = metricsQuery ? metricsQuery.query : eventsQuery?.resource?.name
    return name ? [name] : []
  })
  const spans = queries.map(({ metricsQuery, eventsQuery }, index) => {
    if (metricsQuery) return metricSpan(metricsQuery, `queries[${index}]`, grid)
    return eventsQuery ? eventSpan(eventsQuery, grid) : NO_SPAN
  })
  return scopeOf(names, spans, grid)
}

function eventSpan(query: EventQuery, grid: Grid): Span {
  try {
    const { fromMicros, toMicros } = planEventQuery(query, '', grid).read.windows
    return { fromMicros: fromMicros[0] ?? Infinity, toMicros: (toMicros.at(-1) ?? -Infinity) - 1 }
  } catch (error) {
    if (error instanceof ServiceError) return NO_SPAN
    throw error
  }
}
