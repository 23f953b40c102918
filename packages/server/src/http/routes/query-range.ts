import { QueryRangeAnswer, QueryRangeRequest, type MetricSample } from '@millrace/contract'
import type { CacheDetails, CacheStats } from '../../cache/cache-policy.ts'
import { parseCachePolicy, type CacheDefaults } from '../../cache/parse-policy.ts'
import type { AnswerOutcome } from '../../metrics/answer-through-cache.ts'
import type { AnswerSeries, RangeAnswer } from '../../metrics/range-answer.ts'
import { parseRangeQuery } from '../../metrics/range-query.ts'
import type { RunRangeQuery } from '../../metrics/run-range-query.ts'
import { cachedAnswer } from '../cached-answer.ts'
import type { RangeRenderer } from '../range-renderer.ts'
import { prepareRangeRendering } from '../render-range-answer.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { hintsOf } from '../validate.ts'
import { explainToWire, serverTiming } from './explain.ts'

export interface QueryRangeRouteDependencies {
  readonly runRangeQuery: RunRangeQuery
  readonly cacheDefaults?: CacheDefaults
}

/** `POST /metrics/{owner}/{project}/query_range` (interface 4.1). */
export function queryRangeRoute({
  runRangeQuery,
  cacheDefaults,
  renderer,
}: QueryRangeRouteDependencies & { readonly renderer: RangeRenderer }): AnyRoute {
  return defineRoute({
    method: 'POST',
    path: '/metrics/:owner/:project/query_range',
    permission: 'read',
    isPublicReadable: true,
    summary: 'Time series computed from metrics, on a grid aligned to the timezone.',
    tag: 'metrics',
    body: QueryRangeRequest,
    isOftenRepeated: true,
    example: {
      queries: [
        {
          query: 'mint_sum',
          alias: 'Mint (24 hours)',
          id: 'a',
          functions: [{ name: 'rollup_sum', arguments: [{ durationValue: { value: 1, unit: 'd' } }] }],
        },
      ],
      timeRange: { start: 'now-30d', end: 'now', step: 3600, timezone: 'America/Los_Angeles' },
      samplesLimit: 20,
    },
    answer: QueryRangeAnswer,
    handle: async (context) => {
      const { body, project, signal, isInterfacePrefix } = context
      const query = parseRangeQuery(body)
      const policy = parseCachePolicy(body.cachePolicy, cacheDefaults)
      const outcome = await runRangeQuery(project, query, policy, signal)
      const { stats } = outcome
      const { answer, cached } = hinted(outcome, hintsOf(body))
      context.setHeader('server-timing', serverTiming(outcome))
      const toWire = async () => {
        context.setHeader('content-type', 'application/json; charset=utf-8')
        // The series are written by themselves: an answer may have a hundred thousand points.
        const frame = {
          ...answerToWire(answer, stats, isInterfacePrefix, () => []),
          ...explainToWire(outcome, body.explain),
        }
        const shown = answer.results.filter(({ error }) => error === null)
        const rendering = await prepareRangeRendering(
          frame,
          shown.map(({ series }) => series),
          answer.timestampsSeconds,
        )
        return renderer.render(rendering)
      }
      return cached ? cachedAnswer(context, cached, policy, toWire) : toWire()
    },
  })
}

/** An answer with warnings about the request, which what is kept for equal requests does not have. */
export function hinted(
  { answer, cached }: AnswerOutcome,
  hints: readonly string[],
): Pick<AnswerOutcome, 'answer' | 'cached'> {
  if (hints.length === 0) return { answer, ...(cached ? { cached } : {}) }
  return {
    answer: { ...answer, warnings: [...answer.warnings, ...hints] },
    ...(cached ? { cached: { ...cached, etag: null } } : {}),
  }
}

/** A whole answer (WI-3). */
export function answerToWire(
  answer: RangeAnswer,
  stats: CacheStats,
  isInterfacePrefix: boolean,
  showSeries = seriesToWire,
): QueryRangeAnswer {
  const { timestampsSeconds } = answer
  return {
    results: answer.results.map(({ id, alias, error, series, totalSeries }) => ({
      ...(id === null ? {} : { id }),
      ...(alias === null ? {} : { alias }),
      ...(error === null
        ? {
            matrix: {
              samples: showSeries(series, timestampsSeconds),
              totalSamples: series.length,
              totalSeries,
            },
          }
        : { error }),
      computeStats: statsToWire(stats),
    })),
    timeRange: {
      start: instantToWire(timestampsSeconds[0] ?? 0),
      end: instantToWire(timestampsSeconds.at(-1) ?? 0),
      step: answer.stepSeconds,
      adjusted: answer.isAdjusted,
      timezone: answer.timezone,
    },
    warnings: [...answer.warnings],
    ...(isInterfacePrefix ? { compute_stats: interfaceStatsToWire(stats) } : {}),
  }
}

function seriesToWire(series: readonly AnswerSeries[], timestampsSeconds: Float64Array): MetricSample[] {
  const timestamps = Array.from(timestampsSeconds, String)
  return series.map((each) => sampleToWire(each, timestamps))
}

/** A series with its points; the places where it has none are left out. */
export function sampleToWire(series: AnswerSeries, timestamps: readonly string[]): MetricSample {
  const values: { timestamp: string; value: number }[] = []
  for (const [i, timestamp] of timestamps.entries()) {
    const value = series.values[i] ?? Number.NaN
    if (!Number.isNaN(value)) values.push({ timestamp, value })
  }
  const { name, labels, displayName } = series
  return { metric: { name, labels, displayName }, values }
}

/** Statistics of a result (WI-4). */
export function statsToWire(stats: CacheStats) {
  return {
    computedAt: new Date(stats.computedAt).toISOString(),
    computeCostMs: String(stats.computeCostMs),
    isCached: stats.isCached,
    isRefreshing: stats.isRefreshing,
    ...(stats.details ? detailsToWire(stats.details) : {}),
  }
}

/** What this service says beyond the interface. */
function detailsToWire({ source, expiresAt, dataVersion, heights, failure }: CacheDetails) {
  return {
    source,
    ...(expiresAt === null ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    ...(dataVersion === null ? {} : { dataVersion: String(dataVersion) }),
    ...(Object.keys(heights).length === 0 ? {} : { blockHeights: heightsToWire(heights) }),
    ...(failure === null
      ? {}
      : { refreshFailure: { ...failure, retryAt: new Date(failure.retryAt).toISOString() } }),
  }
}

function heightsToWire(heights: CacheDetails['heights']): Record<string, string> {
  return Object.fromEntries(Object.entries(heights).map(([chain, height]) => [chain, String(height)]))
}

/** The same under the names of the interface, for `/api/v1` (WI-3). */
export function interfaceStatsToWire(stats: CacheStats) {
  return {
    computed_at: new Date(stats.computedAt).toISOString(),
    is_cached: stats.isCached,
    is_refreshing: stats.isRefreshing,
  }
}

function instantToWire(epochSeconds: number): string {
  return new Date(epochSeconds * 1000).toISOString().replace('.000Z', 'Z')
}
