import type { MetricQuery } from '@millrace/contract'
import type { AnswerScope } from '../cache/cache-policy.ts'
import { ServiceError } from '../platform/errors.ts'
import { planQuery } from './plan-query.ts'
import type { RangeQuery } from './range-query.ts'
import type { Grid } from './time-range.ts'

/** What the answer to a range query on a grid depends on (CA-6): its metrics over all that their windows reach, and the grid. */
export function rangeQueryScope(query: RangeQuery, grid: Grid): AnswerScope {
  const names = query.queries.flatMap((each) => (each.query ? [each.query] : []))
  const spans = query.queries.map((wire, index) => metricSpan(wire, `queries[${index}]`, grid))
  return scopeOf(names, spans, grid)
}

/** The scope of an answer on a grid that reads these names over these spans. */
export function scopeOf(names: readonly string[], spans: readonly Span[], grid: Grid): AnswerScope {
  const from = Math.min(...spans.map((span) => span.fromMicros))
  const to = Math.max(...spans.map((span) => span.toMicros))
  return {
    coverage: {
      names: [...new Set(names)],
      fromMicros: Number.isFinite(from) ? from : null,
      toMicros: Number.isFinite(to) ? to : null,
    },
    signature: [grid.points[0], grid.points.at(-1), grid.points.length, grid.stepSeconds].join(' '),
  }
}

/** Time that a query reads, both ends inclusive. */
export interface Span {
  readonly fromMicros: number
  readonly toMicros: number
}

/** Reads nothing. */
export const NO_SPAN: Span = { fromMicros: Infinity, toMicros: -Infinity }

/** What a query of a metric reads; one that cannot be planned reads nothing, and its answer holds an error and is not kept. */
export function metricSpan(wire: MetricQuery, field: string, grid: Grid): Span {
  try {
    const { edges, needs } = planQuery(wire, field, grid).read
    const last = edges.at(-1)
    if (last === undefined) return NO_SPAN
    const needsHistory = needs.counter.needsHistory || needs.gauge.needsHistory
    return { fromMicros: needsHistory ? -Infinity : (edges[0] ?? -Infinity), toMicros: last - 1 }
  } catch (error) {
    if (error instanceof ServiceError) return NO_SPAN
    throw error
  }
}
