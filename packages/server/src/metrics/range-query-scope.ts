import type { AnswerScope } from '../cache/cache-policy.ts'
import { ServiceError } from '../platform/errors.ts'
import { planQuery } from './plan-query.ts'
import type { RangeQuery } from './range-query.ts'
import { resolveTimeRange, type Grid } from './time-range.ts'

/** What the answer to a range query depends on when it is computed at `nowMs` (CA-6): its metrics over all that their windows reach, and its grid. */
export function rangeQueryScope(query: RangeQuery, nowMs: number): AnswerScope {
  const grid = resolveTimeRange(query.timeRange, nowMs)
  const spans = query.queries.map((_, index) => spanOf(query, index, grid))
  const names = [...new Set(query.queries.flatMap((each) => (each.query ? [each.query] : [])))]
  const from = Math.min(...spans.map((span) => span.fromMicros))
  const to = Math.max(...spans.map((span) => span.toMicros))
  return {
    coverage: {
      names,
      fromMicros: Number.isFinite(from) ? from : null,
      toMicros: Number.isFinite(to) ? to : null,
    },
    signature: [grid.points[0], grid.points.at(-1), grid.points.length, grid.stepSeconds].join(' '),
  }
}

interface Span {
  readonly fromMicros: number
  readonly toMicros: number
}

/** A query that cannot be planned reads nothing; its answer holds an error and is not kept. */
function spanOf(query: RangeQuery, index: number, grid: Grid): Span {
  const wire = query.queries[index]
  try {
    if (!wire) return NOTHING
    const { edges, needs } = planQuery(wire, `queries[${index}]`, grid).read
    const last = edges.at(-1)
    if (last === undefined) return NOTHING
    const needsHistory = needs.counter.needsHistory || needs.gauge.needsHistory
    return { fromMicros: needsHistory ? -Infinity : (edges[0] ?? -Infinity), toMicros: last - 1 }
  } catch (error) {
    if (error instanceof ServiceError) return NOTHING
    throw error
  }
}

const NOTHING: Span = { fromMicros: Infinity, toMicros: -Infinity }
