import type { CachePolicy, ResultCache } from '../cache/cache-policy.ts'
import type { Project } from '../projects/project.ts'
import { answerThroughCache, type AnswerOutcome } from './answer-through-cache.ts'
import { computeAnswer, type ComputedAnswer } from './compute-answer.ts'
import { evaluateQuery, type EvaluationDependencies } from './evaluate-query.ts'
import { rangeQueryKey, type RangeQuery } from './range-query.ts'
import { rangeQueryScope } from './range-query-scope.ts'
import { checkTimeRange, resolveTimeRange } from './time-range.ts'

export interface RangeQueryDependencies extends EvaluationDependencies {
  readonly cache: ResultCache
}

/** Answers a range query. Throws `invalid_argument` for a range that cannot be answered, `unavailable` while the engine is down. */
export type RunRangeQuery = (
  project: Project,
  query: RangeQuery,
  policy: CachePolicy,
  signal: AbortSignal,
) => Promise<AnswerOutcome>

/** The read flow of metrics: validate → plan → (cache) → execute → evaluate → limit. */
export function createRunRangeQuery(dependencies: RangeQueryDependencies): RunRangeQuery {
  return async (project, query, policy, signal) => {
    // A range that cannot be answered is refused before the cache is asked.
    checkTimeRange(query.timeRange, dependencies.clock.now())
    const version = query.version || (project.activeVersion ?? 0)
    const request = {
      key: rangeQueryKey(query, project.id, version),
      projectId: project.id,
      version,
      isExplained: query.isExplained,
      scope: (nowMs: number) => rangeQueryScope(query, nowMs),
      compute: (nowMs: number, signal: AbortSignal) =>
        compute(dependencies, project.id, version, query, nowMs, signal),
    }
    return answerThroughCache(dependencies, request, policy, signal)
  }
}

function compute(
  dependencies: RangeQueryDependencies,
  projectId: number,
  version: number,
  query: RangeQuery,
  computedAt: number,
  signal: AbortSignal,
): Promise<ComputedAnswer> {
  const { timeRange, isExplained, formulas } = query
  const grid = resolveTimeRange(timeRange, computedAt)
  const scope = { projectId, version, grid, signal, isExplained }
  const queries = query.queries.map((wire, index) => {
    const field = `queries[${index}]`
    return {
      dataSource: 'METRICS' as const,
      field,
      wire,
      name: wire.query ?? '',
      evaluate: () => evaluateQuery(dependencies, wire, field, scope),
    }
  })
  const plan = { grid, stepWished: timeRange.stepSeconds, queries, formulas, limit: query }
  return computeAnswer(dependencies.clock, plan, signal)
}
