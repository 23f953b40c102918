import type { CachePolicy, ResultCache } from '../cache/cache-policy.ts'
import type { Reading } from '../cache/snapshot.ts'
import type { Project } from '../projects/project.ts'
import { answerThroughCache, type AnswerOutcome } from './answer-through-cache.ts'
import { computeAnswer, type ComputedAnswer } from './compute-answer.ts'
import { evaluateQuery, type EvaluationDependencies, type EvaluationScope } from './evaluate-query.ts'
import { rangeQueryKey, type RangeQuery } from './range-query.ts'
import { rangeQueryScope } from './range-query-scope.ts'
import { createRangeCheck, createGrids } from './time-range.ts'

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
    const version = query.version || (project.activeVersion ?? 0)
    const gridAt = createGrids(query.timeRange)
    const request = {
      key: rangeQueryKey(query, project.id, version),
      projectId: project.id,
      version,
      isExplained: query.isExplained,
      check: createRangeCheck(query.timeRange),
      scope: (nowMs: number) => rangeQueryScope(query, gridAt(nowMs)),
      compute: (nowMs: number, reading: Reading, signal: AbortSignal) => {
        const grid = gridAt(nowMs)
        const { isExplained } = query
        const scope = { projectId: project.id, version, grid, signal, isExplained, reading }
        return compute(dependencies, query, scope)
      },
    }
    return answerThroughCache(dependencies, request, policy, signal)
  }
}

function compute(
  dependencies: RangeQueryDependencies,
  query: RangeQuery,
  scope: EvaluationScope,
): Promise<ComputedAnswer> {
  const { timeRange, formulas } = query
  const { grid, signal } = scope
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
