import type { MetricFormula, MetricQuery, QueryRangeRequest } from '@millrace/contract'
import { withKeptNames } from './kept-names.ts'
import { seriesLimit, type SeriesLimit } from './range-answer.ts'
import { parseTimeRange, type TimeRange, type TimeRangeFields } from './time-range.ts'

/** A range query as asked, as far as it concerns all of its results; queries and formulas are checked one by one (ER-3). */
export interface RangeQuery extends SeriesLimit {
  readonly timeRange: TimeRange
  readonly queries: readonly MetricQuery[]
  readonly formulas: readonly MetricFormula[]
  /** The version wished for; 0 is the active one (MQ-9). */
  readonly version: number
  /** Is the caller to be told how the answer came about? No part of the meaning. */
  readonly isExplained: boolean
}

/** What was made of requests that are kept as they are, because they come again. */
const parsed = new WeakMap<QueryRangeRequest, RangeQuery>()

/** Validates a request; throws `invalid_argument`, naming the fields of its time, for what makes all of its results impossible. */
export function parseRangeQuery(wire: QueryRangeRequest, fields?: TimeRangeFields): RangeQuery {
  const known = parsed.get(wire)
  if (known) return known
  const query: RangeQuery = {
    timeRange: parseTimeRange(wire.timeRange, fields),
    queries: (wire.queries ?? []).map(withKeptNames),
    formulas: wire.formulas ?? [],
    ...seriesLimit(wire.samplesLimit, wire.samplesOffset),
    version: wire.version ?? 0,
    isExplained: wire.explain ?? false,
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
    query.queries.map(metricQueryKey),
    query.formulas.map(formulaKey),
  ])
}

/** The part of a key that stands for one query. */
export function metricQueryKey(each: MetricQuery): readonly unknown[] {
  return [
    each.query ?? '',
    Object.entries(each.labelSelector ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    each.aggregate ? [each.aggregate.op ?? '', each.aggregate.grouping ?? []] : null,
    ...namedKey(each),
  ]
}

/** The part of a key that stands for one formula. */
export function formulaKey(each: MetricFormula): readonly unknown[] {
  return [each.expression ?? '', ...namedKey(each)]
}

/** The members that queries and formulas share. */
export function namedKey({
  alias,
  id,
  disabled,
  functions,
}: Pick<MetricQuery, 'alias' | 'id' | 'disabled' | 'functions'>): readonly unknown[] {
  const calls = functions?.map(({ name, arguments: given }) => [name ?? '', given ?? []])
  return [alias ?? null, id ?? null, disabled ?? false, calls ?? []]
}
