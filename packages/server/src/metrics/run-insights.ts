import type { InsightsRequest, MetricFormula } from '@millrace/contract'
import type { CacheStats } from '../cache/cache-policy.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Project } from '../projects/project.ts'
import { evaluateEventQuery } from './evaluate-event-query.ts'
import { evaluateQuery, type EvaluationDependencies, type EvaluationScope } from './evaluate-query.ts'
import type { EventSource } from './event-source.ts'
import { describeGrid, limitSeries, type RangeAnswer, type RangeResult } from './range-answer.ts'
import { createPace } from './pace.ts'
import { neededIds, parseFormulas, runFormulas, type Outcome } from './run-formulas.ts'
import { parseTimeRange, resolveTimeRange } from './time-range.ts'

/** Where a result comes from. */
export type InsightSource = 'METRICS' | 'EVENTS' | 'FORMULA'

/** The answer of a range query, each result with its source. */
export interface InsightsOutcome {
  readonly answer: Omit<RangeAnswer, 'results'> & {
    readonly results: readonly (RangeResult & { readonly dataSource: InsightSource })[]
  }
  readonly stats: CacheStats
}

export interface InsightsDependencies extends EvaluationDependencies {
  readonly events: EventSource
}

/** Answers queries of metrics and of events on one grid, with formulas over both. */
export type RunInsights = (
  project: Project,
  request: InsightsRequest,
  signal: AbortSignal,
) => Promise<InsightsOutcome>

const DEFAULT_SERIES = 1000
const MAX_SERIES = 10_000

interface Evaluated {
  readonly dataSource: InsightSource
  readonly id: string
  readonly wire: Pick<MetricFormula, 'id' | 'alias' | 'disabled'>
  readonly name: string
  readonly outcome: Outcome
  readonly warnings: readonly string[]
}

/** The read flow of insights: validate → plan → read → evaluate → limit. */
export function createRunInsights(dependencies: InsightsDependencies): RunInsights {
  const { clock } = dependencies
  return async (project, request, signal) => {
    const computedAt = clock.now()
    const startedAt = clock.monotonic()
    const grid = resolveTimeRange(parseTimeRange(request.timeRange), computedAt)
    const version = request.version || (project.activeVersion ?? 0)
    const scope = { projectId: project.id, version, grid, signal }
    const formulas = parseFormulas(request.formulas ?? [])
    const needed = neededIds(formulas)
    const evaluated = await Promise.all(
      (request.queries ?? []).map((query, index) => evaluate(dependencies, query, index, scope, needed)),
    )
    const pace = createPace(clock, signal)
    const outcomes = await runFormulas(formulas, evaluated, grid, pace)
    const all: readonly Evaluated[] = [
      ...evaluated,
      ...formulas.map(({ wire }, i): Evaluated => ({
        dataSource: 'FORMULA',
        id: wire.id ?? '',
        wire,
        name: wire.expression ?? '',
        outcome: outcomes[i] ?? [],
        warnings: [],
      })),
    ]
    const limit = {
      samplesLimit: Math.min(request.limit || DEFAULT_SERIES, MAX_SERIES),
      samplesOffset: request.offset ?? 0,
    }
    return {
      answer: {
        ...describeGrid(grid),
        results: await Promise.all(
          all
            .filter(({ wire }) => !wire.disabled)
            .map(async ({ dataSource, wire, name, outcome }) => {
              const head = { dataSource, id: wire.id ?? null, alias: wire.alias ?? null }
              if (outcome instanceof ServiceError) {
                return { ...head, error: outcome.message, series: [], totalSeries: 0 }
              }
              return { ...head, error: null, ...(await limitSeries(outcome, name, head.alias, limit, pace)) }
            }),
        ),
        warnings: [...new Set(evaluated.flatMap(({ warnings }) => warnings))],
      },
      stats: {
        computedAt,
        isCached: false,
        isRefreshing: false,
        computeCostMs: Math.round(clock.monotonic() - startedAt),
      },
    }
  }
}

type WireQuery = NonNullable<InsightsRequest['queries']>[number]

/** A query's own failure belongs to its result (ER-3). */
async function evaluate(
  dependencies: InsightsDependencies,
  query: WireQuery,
  index: number,
  scope: EvaluationScope,
  needed: ReadonlySet<string>,
): Promise<Evaluated> {
  const { metricsQuery, eventsQuery } = query
  const wire = metricsQuery ?? eventsQuery ?? {}
  const head = {
    dataSource: eventsQuery && !metricsQuery ? 'EVENTS' : 'METRICS',
    id: wire.id ?? '',
    wire,
    name: metricsQuery?.query ?? eventsQuery?.resource?.name ?? '',
  } as const
  if (wire.disabled && !(wire.id && needed.has(wire.id))) return { ...head, outcome: [], warnings: [] }
  try {
    if (metricsQuery) {
      const field = `queries[${index}].metricsQuery`
      const { series, warnings } = await evaluateQuery(dependencies, metricsQuery, field, scope)
      return { ...head, outcome: series, warnings }
    }
    if (eventsQuery) {
      const field = `queries[${index}].eventsQuery`
      const { series, warnings } = await evaluateEventQuery(dependencies, eventsQuery, field, scope)
      return { ...head, outcome: series, warnings }
    }
    throw new ServiceError(
      'invalid_argument',
      `queries[${index}]: metricsQuery or eventsQuery is required; other sources are not served`,
    )
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code === 'cancelled' || error.code === 'internal')
      throw error
    return { ...head, outcome: error, warnings: [] }
  }
}
