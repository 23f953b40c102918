import type { Clock } from '../platform/clock.ts'
import type { EvaluationScope } from './evaluate-query.ts'
import type { GridSeries } from './grid-series.ts'
import { createPace } from './pace.ts'
import type { QueryPlan } from './plan-query.ts'
import { createWindowReduction } from './reduce-windows.ts'
import type { MetricType, ReadingReport, SeriesSource } from './series-source.ts'

/** A series with a value for each window; it may have no point at all. */
export interface ReducedSeries extends GridSeries {
  readonly type: MetricType
}

/** The matching series of a query, in the order of the source, before functions of grid values and aggregation. */
export interface Reduction {
  readonly series: readonly ReducedSeries[]
  readonly report: ReadingReport
  /** When all was read, on the clock that does not go back. */
  readonly readAt: number
}

/** Reads a query's samples and reduces their windows. */
export async function reduceQuery(
  { source, clock }: { readonly source: SeriesSource; readonly clock: Clock },
  plan: QueryPlan,
  { projectId, version, signal, isExplained, reading: { dataVersion, snapshot } }: EvaluationScope,
): Promise<Reduction> {
  const { report, series: found } = await source.read(
    { projectId, version, isExplained, dataVersion, snapshot, ...plan.read },
    signal,
  )
  const readAt = clock.monotonic()
  const pace = createPace(clock, signal)
  const reduce = createWindowReduction(plan.ranges, plan.reducer, plan.first?.quantile ?? null)
  const series: ReducedSeries[] = []
  for (const cells of found) {
    const { labels, type } = cells
    series.push({ labels, type, values: reduce(cells) })
    await pace.turn()
  }
  return { series, report, readAt }
}
