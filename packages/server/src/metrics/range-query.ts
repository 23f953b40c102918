import type { MetricFormula, MetricQuery, QueryRangeRequest } from '@millrace/contract'
import type { TimeRange } from './time-range.ts'
import { parseTimeRange } from './time-range.ts'

/** A range query as asked, as far as it concerns all of its results; queries and formulas are checked one by one (ER-3). */
export interface RangeQuery {
  readonly timeRange: TimeRange
  readonly queries: readonly MetricQuery[]
  readonly formulas: readonly MetricFormula[]
  readonly samplesLimit: number
  readonly samplesOffset: number
  /** The version wished for; 0 is the active one (MQ-9). */
  readonly version: number
}

const DEFAULT_SAMPLES = 1000
const MAX_SAMPLES = 10_000

/** Validates a request; throws `invalid_argument` for what makes all of its results impossible. */
export function parseRangeQuery(wire: QueryRangeRequest): RangeQuery {
  return {
    timeRange: parseTimeRange(wire.timeRange),
    queries: wire.queries ?? [],
    formulas: wire.formulas ?? [],
    samplesLimit: Math.min(wire.samplesLimit || DEFAULT_SAMPLES, MAX_SAMPLES),
    samplesOffset: wire.samplesOffset ?? 0,
    version: wire.version ?? 0,
  }
}

/**
 * The cache key of a query: its meaning, relative times as written, without the cache policy (CA-1). Fields stand in
 * the order of the schema, so that the order in which a client sent them does not matter.
 */
export function rangeQueryKey(query: RangeQuery, projectId: number, version: number): string {
  return JSON.stringify(['query_range', projectId, version, { ...query, version: 0 }], sortedLabels)
}

function sortedLabels(name: string, value: unknown): unknown {
  if (name !== 'labelSelector' || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
