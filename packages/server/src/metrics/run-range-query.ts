import type { MetricQuery } from '@millrace/contract'
import type { Cached, CachePolicy, CacheStats, ResultCache } from '../cache/cache-policy.ts'
import type { Clock } from '../platform/clock.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Project } from '../projects/project.ts'
import { evaluateQuery, type EvaluatedQuery, type EvaluationScope } from './evaluate-query.ts'
import { createPace, type Pace } from './pace.ts'
import { describeGrid, limitSeries, type RangeAnswer, type RangeResult } from './range-answer.ts'
import { rangeQueryKey, type RangeQuery } from './range-query.ts'
import { rangeQueryScope } from './range-query-scope.ts'
import { neededIds, parseFormulas, runFormulas, type Outcome } from './run-formulas.ts'
import type { SeriesSource } from './series-source.ts'
import { checkTimeRange, resolveTimeRange } from './time-range.ts'

export interface RangeQueryDependencies {
  readonly source: SeriesSource
  readonly cache: ResultCache
  readonly clock: Clock
}

/** An answer and where it came from. */
export interface RangeQueryOutcome {
  readonly answer: RangeAnswer
  readonly stats: CacheStats
  /** Absent for an answer that holds an error, which is not kept. */
  readonly cached?: Cached<RangeAnswer>
}

/** Answers a range query. Throws `invalid_argument` for a range that cannot be answered, `unavailable` while the engine is down. */
export type RunRangeQuery = (
  project: Project,
  query: RangeQuery,
  policy: CachePolicy,
  signal: AbortSignal,
) => Promise<RangeQueryOutcome>

/** An answer that holds an error is not cached (CA-4): it leaves the cache as a failure. */
class UncachedAnswer extends Error {
  override readonly name = 'UncachedAnswer'
  readonly outcome: RangeQueryOutcome

  constructor(outcome: RangeQueryOutcome) {
    super(`Not cached: ${outcome.answer.results.find(({ error }) => error !== null)?.error}`)
    this.outcome = outcome
  }
}

/** The read flow of metrics: validate → plan → (cache) → read → evaluate → limit. */
export function createRunRangeQuery(dependencies: RangeQueryDependencies): RunRangeQuery {
  const { cache, clock } = dependencies
  return async (project, query, policy, signal) => {
    // A range that cannot be answered is refused before the cache is asked.
    checkTimeRange(query.timeRange, clock.now())
    const version = query.version || (project.activeVersion ?? 0)
    // The cache computes on behalf of others too, also after this caller has its answer.
    const stop = new AbortController()
    const abort = () => stop.abort()
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    try {
      const key = rangeQueryKey(query, project.id, version)
      const cached = await cache.through(
        {
          key,
          owner: { projectId: project.id, version },
          scope: (nowMs) => rangeQueryScope(query, nowMs),
          compute: (nowMs) => compute(dependencies, project.id, version, query, nowMs, stop.signal),
        },
        policy,
      )
      return { answer: cached.value, stats: cached.stats, cached }
    } catch (error) {
      if (error instanceof UncachedAnswer) return error.outcome
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }
}

async function compute(
  dependencies: RangeQueryDependencies,
  projectId: number,
  version: number,
  query: RangeQuery,
  computedAt: number,
  signal: AbortSignal,
): Promise<RangeAnswer> {
  const { clock } = dependencies
  const startedAt = clock.monotonic()
  const grid = resolveTimeRange(query.timeRange, computedAt)
  const formulas = parseFormulas(query.formulas)
  const needed = neededIds(formulas)
  const scope = { projectId, version, grid, signal }
  const queries = await Promise.all(
    query.queries.map(async (wire, index) => {
      const isSkipped = wire.disabled && !(wire.id && needed.has(wire.id))
      const evaluated = isSkipped ? NOTHING : await tryQuery(dependencies, wire, index, scope)
      const outcome = evaluated instanceof ServiceError ? evaluated : evaluated.series
      const warnings = evaluated instanceof ServiceError ? [] : evaluated.warnings
      return { wire, id: wire.id ?? '', name: wire.query ?? '', outcome, warnings }
    }),
  )
  const pace = createPace(clock, signal)
  const formulaOutcomes = await runFormulas(formulas, queries, grid, pace)
  const all: readonly Named[] = [
    ...queries,
    ...formulas.map(({ wire }, i) => ({
      wire,
      name: wire.expression ?? '',
      outcome: formulaOutcomes[i] ?? [],
    })),
  ]
  const returned = all.filter(({ wire }) => !wire.disabled)
  throwIfUnavailable(returned)
  const answer = {
    ...describeGrid(grid),
    results: await Promise.all(returned.map((each) => toResult(each, query, pace))),
    warnings: [...new Set(queries.flatMap(({ warnings }) => warnings))],
  }
  if (answer.results.some(({ error }) => error !== null)) {
    const computeCostMs = Math.round(clock.monotonic() - startedAt)
    const stats = { computedAt, isCached: false, isRefreshing: false, computeCostMs }
    throw new UncachedAnswer({ answer, stats })
  }
  return answer
}

const NOTHING: EvaluatedQuery = { series: [], warnings: [] }

interface Named {
  readonly wire: { readonly id?: string; readonly alias?: string; readonly disabled?: boolean }
  readonly name: string
  readonly outcome: Outcome
}

/** A query's own failure belongs to its result (ER-3); a defect, and a caller who went away, end the whole. */
async function tryQuery(
  dependencies: RangeQueryDependencies,
  wire: MetricQuery,
  index: number,
  scope: EvaluationScope,
): Promise<EvaluatedQuery | ServiceError> {
  try {
    return await evaluateQuery(dependencies, wire, `queries[${index}]`, scope)
  } catch (error) {
    if (error instanceof ServiceError && error.code !== 'cancelled' && error.code !== 'internal') return error
    throw error
  }
}

/** When nothing could be answered for want of the engine, the caller is told to come again. */
function throwIfUnavailable(returned: readonly Named[]): void {
  const [first] = returned
  const isDown = returned.every(
    ({ outcome }) => outcome instanceof ServiceError && outcome.code === 'unavailable',
  )
  if (isDown && first?.outcome instanceof ServiceError) throw first.outcome
}

async function toResult({ wire, name, outcome }: Named, query: RangeQuery, pace: Pace): Promise<RangeResult> {
  const names = { id: wire.id ?? null, alias: wire.alias ?? null }
  if (outcome instanceof ServiceError) {
    return { ...names, error: outcome.message, series: [], totalSeries: 0 }
  }
  return { ...names, error: null, ...(await limitSeries(outcome, name, names.alias, query, pace)) }
}
