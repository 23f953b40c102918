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

/** What was made of requests that are kept as they are, because they come again. */
const parsed = new WeakMap<QueryRangeRequest, RangeQuery>()

/** Validates a request; throws `invalid_argument` for what makes all of its results impossible. */
export function parseRangeQuery(wire: QueryRangeRequest): RangeQuery {
  const known = parsed.get(wire)
  if (known) return known
  const query: RangeQuery = {
    timeRange: parseTimeRange(wire.timeRange),
    queries: wire.queries ?? [],
    formulas: wire.formulas ?? [],
    samplesLimit: Math.min(wire.samplesLimit || DEFAULT_SAMPLES, MAX_SAMPLES),
    samplesOffset: wire.samplesOffset ?? 0,
    version: wire.version ?? 0,
  }
  parsed.set(wire, query)
  return query
}

/** The meaning of queries that come again. */
const meanings = new WeakMap<RangeQuery, string>()

/**
 * The cache key of a query: its meaning, relative times as written, without the cache policy (CA-1). Neither the
 * order of fields and labels matters nor whether a default was sent or left out.
 */
export function rangeQueryKey(query: RangeQuery, projectId: number, version: number): string {
  const meaning = meanings.get(query) ?? meaningOf(query)
  meanings.set(query, meaning)
  return `query_range ${projectId} ${version} ${meaning}`
}

function meaningOf(query: RangeQuery): string {
  const { timeRange, samplesLimit, samplesOffset } = query
  return JSON.stringify([
    timeRange,
    samplesLimit,
    samplesOffset,
    query.queries.map((each) => [
      each.query ?? '',
      Object.entries(each.labelSelector ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)),
      each.aggregate ? [each.aggregate.op ?? '', each.aggregate.grouping ?? []] : null,
      ...namedKey(each),
    ]),
    query.formulas.map((each) => [each.expression ?? '', ...namedKey(each)]),
  ])
}

function namedKey({ alias, id, disabled, functions }: MetricQuery | MetricFormula): readonly unknown[] {
  const calls = functions?.map(({ name, arguments: given }) => [name ?? '', given ?? []])
  return [alias ?? null, id ?? null, disabled ?? false, calls ?? []]
}
