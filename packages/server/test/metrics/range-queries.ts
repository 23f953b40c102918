import type { QueryRangeRequest } from '@millrace/contract'
import type { ResultCache } from '../../src/cache/cache-policy.ts'
import type { NameChangesStore } from '../../src/cache/name-changes.ts'
import { CACHE_DEFAULTS, parseCachePolicy } from '../../src/cache/parse-policy.ts'
import { createBucketSource } from '../../src/clickhouse/bucket-source.ts'
import { createSeriesSource, type SeriesSourceLimits } from '../../src/clickhouse/series-source.ts'
import type { FactEngine } from '../../src/clickhouse/fact-engine.ts'
import { parseRangeQuery } from '../../src/metrics/range-query.ts'
import type { AnswerSeries, RangeAnswer, RangeResult } from '../../src/metrics/range-answer.ts'
import { createRememberedSeries, type RememberedSeriesLimits } from '../../src/metrics/remembered-series.ts'
import { createRunRangeQuery } from '../../src/metrics/run-range-query.ts'
import type { Project } from '../../src/projects/project.ts'

const FRESH = { dataVersion: 0, snapshot: null, mayReuse: false, whenUndisturbed: () => undefined }

/** Computes every answer, at a fixed time. */
export function noCache(nowMs: number): ResultCache {
  return {
    async through({ compute }) {
      return {
        value: await compute(nowMs, FRESH),
        stats: { computedAt: nowMs, isCached: false, isRefreshing: false, computeCostMs: 0 },
        etag: null,
        rendered: (_variant, make) => make(),
        rendering: () => undefined,
        again: () => null,
      }
    },
  }
}

/** The way to an answer: limits of a scan, or buckets in memory and limits of these. */
export type PlanOptions = Partial<SeriesSourceLimits> & {
  readonly remembered?: Partial<RememberedSeriesLimits>
}

/** Data that nobody adds to. */
const UNCHANGED: NameChangesStore = {
  latest: () => Promise.resolve(1),
  changesOf: () => Promise.resolve({ whole: 1, days: new Map(), frontierMicros: null }),
}

/** Asks range queries of a real engine at a fixed time. */
export function rangeQueries(
  engine: FactEngine,
  project: Project,
  nowMs: number,
  cache = noCache(nowMs),
  { remembered, ...limits }: PlanOptions = {},
) {
  const clock = { now: () => nowMs, monotonic: () => 0 }
  const scans = createSeriesSource(engine, limits)
  const buckets = createBucketSource(engine)
  const source = remembered
    ? createRememberedSeries({ source: scans, buckets, changes: UNCHANGED, clock }, remembered)
    : scans
  const run = createRunRangeQuery({ source, cache, clock })
  const never = new AbortController().signal
  return async (request: QueryRangeRequest, signal = never): Promise<PlainAnswer> => {
    const policy = parseCachePolicy(request.cachePolicy, CACHE_DEFAULTS)
    const { answer } = await run(project, parseRangeQuery(request), policy, signal)
    return plain(answer)
  }
}

/** An answer as JSON has it, where no point is null. */
export type PlainAnswer = ReturnType<typeof plain>

/** An answer as JSON has it. */
export function plain(answer: RangeAnswer) {
  const plainSeries = (series: AnswerSeries) => ({
    ...series,
    values: Array.from(series.values, (value) => (Number.isNaN(value) ? null : value)),
  })
  const plainResult = (result: RangeResult) => ({ ...result, series: result.series.map(plainSeries) })
  return {
    ...answer,
    timestampsSeconds: Array.from(answer.timestampsSeconds),
    results: answer.results.map(plainResult),
  }
}
