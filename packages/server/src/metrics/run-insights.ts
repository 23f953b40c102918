import type { EventQuery, InsightsRequest } from '@millrace/contract'
import type { CachePolicy } from '../cache/cache-policy.ts'
import type { Reading } from '../cache/snapshot.ts'
import { invalidArgument } from '../platform/errors.ts'
import type { Project } from '../projects/project.ts'
import { answerThroughCache, type AnswerOutcome } from './answer-through-cache.ts'
import { computeAnswer, type ComputedAnswer, type RequestQuery } from './compute-answer.ts'
import { evaluateEventQuery } from './evaluate-event-query.ts'
import { evaluateQuery, type EvaluationScope } from './evaluate-query.ts'
import type { EventSource } from './event-source.ts'
import { insightsKey, insightsScope } from './insights-scope.ts'
import { withKeptNames } from './kept-names.ts'
import { seriesLimit } from './range-answer.ts'
import type { RangeQueryDependencies } from './run-range-query.ts'
import { createRangeCheck, parseTimeRange, createGrids } from './time-range.ts'

export interface InsightsDependencies extends RangeQueryDependencies {
  readonly events: EventSource
}

/** Answers queries of metrics and of events on one grid, with formulas over both; throws as a range query does. */
export type RunInsights = (
  project: Project,
  request: InsightsRequest,
  policy: CachePolicy,
  signal: AbortSignal,
) => Promise<AnswerOutcome>

/** The read flow of insights: validate → plan → (cache) → execute → evaluate → limit. */
export function createRunInsights(dependencies: InsightsDependencies): RunInsights {
  return async (project, given, policy, signal) => {
    const wire = withKeptMetrics(given)
    const timeRange = parseTimeRange(wire.timeRange)
    const version = wire.version || (project.activeVersion ?? 0)
    const gridAt = createGrids(timeRange)
    const limit = seriesLimit(wire.limit, wire.offset)
    const request = {
      key: insightsKey(wire, timeRange, limit, project.id, version),
      projectId: project.id,
      version,
      isExplained: wire.explain ?? false,
      check: createRangeCheck(timeRange),
      scope: (nowMs: number) => insightsScope(wire, gridAt(nowMs)),
      compute: (nowMs: number, reading: Reading, signal: AbortSignal): Promise<ComputedAnswer> => {
        const grid = gridAt(nowMs)
        const isExplained = wire.explain ?? false
        const scope = { projectId: project.id, version, grid, signal, isExplained, reading }
        const queries = (wire.queries ?? []).map((query, index) =>
          requestQuery(dependencies, query, index, scope),
        )
        const plan = {
          grid,
          stepWished: timeRange.stepSeconds,
          queries,
          formulas: wire.formulas ?? [],
          limit,
        }
        return computeAnswer(dependencies.clock, plan, signal)
      },
    }
    return answerThroughCache(dependencies, request, policy, signal)
  }
}

type WireQuery = NonNullable<InsightsRequest['queries']>[number]

/** A request whose metrics have plain names is returned itself: what was remembered of it is found again. */
function withKeptMetrics(request: InsightsRequest): InsightsRequest {
  const given = request.queries ?? []
  const queries = given.map((each) => {
    if (!each.metricsQuery) return each
    const metricsQuery = withKeptNames(each.metricsQuery)
    return metricsQuery === each.metricsQuery ? each : { ...each, metricsQuery }
  })
  return queries.every((each, index) => each === given[index]) ? request : { ...request, queries }
}

function requestQuery(
  dependencies: InsightsDependencies,
  { metricsQuery, eventsQuery }: WireQuery,
  index: number,
  scope: EvaluationScope,
): RequestQuery {
  if (metricsQuery) {
    const field = `queries[${index}].metricsQuery`
    return {
      dataSource: 'METRICS',
      field,
      wire: metricsQuery,
      name: metricsQuery.query ?? '',
      evaluate: () => evaluateQuery(dependencies, metricsQuery, field, scope),
    }
  }
  const wire: EventQuery = eventsQuery ?? {}
  const field = `queries[${index}]${eventsQuery ? '.eventsQuery' : ''}`
  return {
    dataSource: eventsQuery ? 'EVENTS' : 'METRICS',
    field,
    wire,
    name: wire.resource?.name ?? '',
    evaluate: async () => {
      if (eventsQuery) return evaluateEventQuery(dependencies, eventsQuery, field, scope)
      throw invalidArgument(`${field}: metricsQuery or eventsQuery is required; other sources are not served`)
    },
  }
}
