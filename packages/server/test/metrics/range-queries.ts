import type { QueryRangeRequest } from '@millrace/contract'
import type { ResultCache } from '../../src/cache/cache-policy.ts'
import { CACHE_DEFAULTS, parseCachePolicy } from '../../src/cache/parse-policy.ts'
import { createSeriesSource, type SeriesSourceLimits } from '../../src/clickhouse/series-source.ts'
import type { FactEngine } from '../../src/clickhouse/fact-engine.ts'
import { parseRangeQuery } from '../../src/metrics/range-query.ts'
import type { RangeAnswer } from '../../src/metrics/range-answer.ts'
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
      }
    },
  }
}

/** Asks range queries of a real engine at a fixed time. */
export function rangeQueries(
  engine: FactEngine,
  project: Project,
  nowMs: number,
  cache = noCache(nowMs),
  limits: Partial<SeriesSourceLimits> = {},
) {
  const clock = { now: () => nowMs, monotonic: () => 0 }
  const run = createRunRangeQuery({ source: createSeriesSource(engine, limits), cache, clock })
  const never = new AbortController().signal
  return async (request: QueryRangeRequest, signal = never): Promise<RangeAnswer> => {
    const policy = parseCachePolicy(request.cachePolicy, CACHE_DEFAULTS)
    const { answer } = await run(project, parseRangeQuery(request), policy, signal)
    return answer
  }
}
