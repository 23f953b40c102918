import type { MetricQuery } from '@millrace/contract'
import type { Clock } from '../platform/clock.ts'
import { aggregate } from './aggregate.ts'
import { applyFunctions, reduceWindows } from './apply-functions.ts'
import { hasPoints, type GridSeries } from './grid-series.ts'
import { createPace } from './pace.ts'
import { planQuery, type QueryPlan } from './plan-query.ts'
import type { SeriesSource } from './series-source.ts'
import type { Grid } from './time-range.ts'

export interface EvaluationDependencies {
  readonly source: SeriesSource
  readonly clock: Clock
}

/** Where a query reads. */
export interface EvaluationScope {
  readonly projectId: number
  readonly version: number
  readonly grid: Grid
  readonly signal: AbortSignal
}

/** The series of a query, and what the caller should be told. */
export interface EvaluatedQuery {
  readonly series: readonly GridSeries[]
  readonly warnings: readonly string[]
}

/** Plans, reads and evaluates one query: select series → functions in order → aggregate (MQ-1). */
export async function evaluateQuery(
  { source, clock }: EvaluationDependencies,
  query: MetricQuery,
  field: string,
  { projectId, version, grid, signal }: EvaluationScope,
): Promise<EvaluatedQuery> {
  const plan = planQuery(query, field, grid)
  const reading = await source.read({ projectId, version, ...plan.read }, signal)
  const evaluated: GridSeries[] = []
  const pace = createPace(clock, signal)
  let hasCounters = false
  for (const cells of reading.series) {
    const series = {
      labels: cells.labels,
      values: reduceWindows(cells, plan.ranges, plan.reducer, plan.quantile),
    }
    if (hasPoints(series)) evaluated.push(series)
    hasCounters ||= cells.type === 'counter'
    await pace.turn()
  }
  const series = await applyFunctions(evaluated, plan.functions, grid, pace)
  return {
    series: plan.aggregate ? (await aggregate(series, plan.aggregate, pace)).filter(hasPoints) : series,
    warnings: warningsOf(plan, reading.isKnownMetric, hasCounters),
  }
}

function warningsOf(
  { read: { metric }, addsSamples }: QueryPlan,
  isKnownMetric: boolean,
  hasCounters: boolean,
): string[] {
  if (!isKnownMetric) return [`metric ${JSON.stringify(metric)} does not exist`]
  if (addsSamples === null || !hasCounters) return []
  const instead = addsSamples === 'rollup_sum' ? 'rollup_delta' : 'delta_over_time, or rollup_delta,'
  return [
    `${addsSamples} of the counter ${JSON.stringify(metric)} adds up running totals; ${instead} gives what was added in the window`,
  ]
}
