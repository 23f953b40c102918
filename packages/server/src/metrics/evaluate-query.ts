import type { MetricQuery } from '@millrace/contract'
import type { Reading } from '../cache/snapshot.ts'
import type { Clock } from '../platform/clock.ts'
import { ServiceError } from '../platform/errors.ts'
import { aggregate } from './aggregate.ts'
import { applyFunctions } from './apply-functions.ts'
import { explainQuery, unexplained, type QueryExplanation } from './explain-query.ts'
import { hasPoints, type GridSeries } from './grid-series.ts'
import { createPace } from './pace.ts'
import { planQuery } from './plan-query.ts'
import { createGaps, queryWarnings } from './query-warnings.ts'
import { reduceQuery, type Reduction } from './reduce-query.ts'
import type { PointMemory } from './reuse-points.ts'
import type { MetricType, SeriesSource } from './series-source.ts'
import type { Grid } from './time-range.ts'

export interface EvaluationDependencies {
  readonly source: SeriesSource
  readonly clock: Clock
  /** Absent where nothing is kept. */
  readonly points?: PointMemory
}

/** Where a query reads. */
export interface EvaluationScope {
  readonly projectId: number
  readonly version: number
  readonly grid: Grid
  readonly signal: AbortSignal
  /** Is the caller to be told how the answer came about? */
  readonly isExplained: boolean
  readonly reading: Reading
}

/** The series of a query, what the caller should be told, and how it went. */
export interface EvaluatedQuery {
  readonly series: readonly GridSeries[]
  readonly warnings: readonly string[]
  readonly explanation: QueryExplanation
}

/** Plans, reads and evaluates one query: select series → functions in order → aggregate (MQ-1). */
export async function evaluateQuery(
  dependencies: EvaluationDependencies,
  query: MetricQuery,
  field: string,
  scope: EvaluationScope,
): Promise<EvaluatedQuery> {
  const { clock, points } = dependencies
  const { grid, signal, isExplained } = scope
  const startedAt = clock.monotonic()
  const plan = planQuery(query, field, grid)
  const plannedAt = clock.monotonic()
  const reduced = points
    ? points.reduce(dependencies, query, field, plan, scope)
    : reduceQuery(dependencies, plan, scope)
  const {
    series: found,
    report,
    readAt,
  } = await reduced.catch((error: unknown): Reduction => {
    throw inField(error, field)
  })
  const evaluated: GridSeries[] = []
  const pace = createPace(clock, signal)
  const gaps = createGaps()
  const types = new Set<MetricType>()
  for (const series of found) {
    if (hasPoints(series)) evaluated.push(series)
    gaps.note(series.values)
    types.add(series.type)
    await pace.turn()
  }
  const applied = await applyFunctions(evaluated, plan.functions, grid, pace)
  const series = plan.aggregate ? (await aggregate(applied, plan.aggregate, pace)).filter(hasPoints) : applied
  const stagesMs = {
    plan: plannedAt - startedAt,
    execute: readAt - plannedAt,
    evaluate: clock.monotonic() - readAt,
  }
  return {
    series,
    warnings: queryWarnings(plan, grid, report, { types, gaps: gaps.share() }),
    explanation: isExplained
      ? explainQuery(plan, report, types, series.length, stagesMs)
      : unexplained(plan.read.metric, series.length, stagesMs),
  }
}

/** The failure of a source with the place of the query, which only this side knows. */
export function inField(error: unknown, field: string): unknown {
  if (!(error instanceof ServiceError) || error.code === 'internal' || error.code === 'cancelled')
    return error
  const { code, message, details, retryAfterSeconds } = error
  return new ServiceError(code, `${field}: ${message}`, {
    cause: error,
    details,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  })
}
