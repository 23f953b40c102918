import type { EventQuery } from '@millrace/contract'
import type { Clock } from '../platform/clock.ts'
import { applyFunctions } from './apply-functions.ts'
import { inField, type EvaluatedQuery, type EvaluationScope } from './evaluate-query.ts'
import type { EventSource } from './event-source.ts'
import { unexplained } from './explain-query.ts'
import { hasPoints } from './grid-series.ts'
import { createPace } from './pace.ts'
import { planEventQuery, type Accumulation } from './plan-event-query.ts'

/** Plans, reads and evaluates one query of events. */
export async function evaluateEventQuery(
  { events: source, clock }: { readonly events: EventSource; readonly clock: Clock },
  query: EventQuery,
  field: string,
  { projectId, version, grid, signal, reading: { snapshot } }: EvaluationScope,
): Promise<EvaluatedQuery> {
  const startedAt = clock.monotonic()
  const plan = planEventQuery(query, field, grid)
  const plannedAt = clock.monotonic()
  const reading = await source
    .read({ projectId, version, snapshot, ...plan.read }, signal)
    .catch((error: unknown) => {
      throw inField(error, field)
    })
  const readAt = clock.monotonic()
  const series = reading.series.map(({ labels, values }) => ({
    labels,
    values: accumulate(values, plan.accumulation),
  }))
  const applied = await applyFunctions(
    series.filter(hasPoints),
    plan.functions,
    grid,
    createPace(clock, signal),
  )
  const stagesMs = {
    plan: plannedAt - startedAt,
    execute: readAt - plannedAt,
    evaluate: clock.monotonic() - readAt,
  }
  return {
    series: applied,
    warnings: reading.isKnownLog ? [] : [`event log ${JSON.stringify(plan.read.name)} does not exist`],
    explanation: unexplained(plan.read.name, applied.length, stagesMs),
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
