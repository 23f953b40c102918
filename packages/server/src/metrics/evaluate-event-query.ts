import type { EventQuery } from '@millrace/contract'
import type { Clock } from '../platform/clock.ts'
import { applyFunctions } from './apply-functions.ts'
import type { EvaluatedQuery, EvaluationScope } from './evaluate-query.ts'
import type { EventSource } from './event-source.ts'
import { hasPoints } from './grid-series.ts'
import { createPace } from './pace.ts'
import { planEventQuery, type Accumulation } from './plan-event-query.ts'

/** Plans, reads and evaluates one query of events. */
export async function evaluateEventQuery(
  { events: source, clock }: { readonly events: EventSource; readonly clock: Clock },
  query: EventQuery,
  field: string,
  { projectId, version, grid, signal }: EvaluationScope,
): Promise<EvaluatedQuery> {
  const plan = planEventQuery(query, field, grid)
  const reading = await source.read({ projectId, version, ...plan.read }, signal)
  const series = reading.series.map(({ labels, values }) => ({
    labels,
    values: accumulate(values, plan.accumulation),
  }))
  return {
    series: await applyFunctions(series.filter(hasPoints), plan.functions, grid, createPace(clock, signal)),
    warnings: reading.isKnownLog ? [] : [`event log ${JSON.stringify(plan.read.name)} does not exist`],
  }
}

function accumulate(values: Float64Array, how: Accumulation): Float64Array {
  if (how === 'none') return values
  let running = Number.NaN
  return values.map((value) => {
    if (Number.isNaN(running)) running = value
    else if (!Number.isNaN(value)) {
      if (how === 'add') running += value
      if (how === 'last') running = value
    }
    return running
  })
}
