import { QueryInstantAnswer, QueryInstantRequest } from '@millrace/contract'
import type { CacheStats } from '../../cache/cache-policy.ts'
import { parseCachePolicy } from '../../cache/parse-policy.ts'
import type { RangeAnswer } from '../../metrics/range-answer.ts'
import { parseRangeQuery } from '../../metrics/range-query.ts'
import { cachedAnswer } from '../cached-answer.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { hintsOf } from '../validate.ts'
import { explainToWire, serverTiming } from './explain.ts'
import {
  hinted,
  interfaceStatsToWire,
  sampleToWire,
  statsToWire,
  type QueryRangeRouteDependencies,
} from './query-range.ts'

const TIME_FIELDS = { start: 'time', end: 'time', timezone: 'timezone' }

/** `POST /metrics/{owner}/{project}/query` (MQ-10): a range query of one point, at `time` to the second. */
export function queryInstantRoute({ runRangeQuery, cacheDefaults }: QueryRangeRouteDependencies): AnyRoute {
  return defineRoute({
    method: 'POST',
    path: '/metrics/:owner/:project/query',
    permission: 'read',
    isPublicReadable: true,
    summary: 'The values of metrics at one time.',
    tag: 'metrics',
    body: QueryInstantRequest,
    isOftenRepeated: true,
    answer: QueryInstantAnswer,
    handle: async (context) => {
      const { body, project, signal, isInterfacePrefix } = context
      const { time = 'now', timezone, cachePolicy, ...queries } = body
      const timeRange = { start: time, end: time, step: 1, ...(timezone === undefined ? {} : { timezone }) }
      const query = parseRangeQuery({ ...queries, timeRange }, TIME_FIELDS)
      const policy = parseCachePolicy(cachePolicy, cacheDefaults)
      const outcome = await runRangeQuery(project, query, policy, signal)
      const { stats } = outcome
      const { answer, cached } = hinted(outcome, hintsOf(body))
      context.setHeader('server-timing', serverTiming(outcome))
      const toWire = () => ({
        ...instantToWire(answer, stats, isInterfacePrefix),
        ...explainToWire(outcome, body.explain),
      })
      return cached ? cachedAnswer(context, cached, policy, toWire) : toWire()
    },
  })
}

function instantToWire(
  answer: RangeAnswer,
  stats: CacheStats,
  isInterfacePrefix: boolean,
): QueryInstantAnswer {
  const timestamps = Array.from(answer.timestampsSeconds, String)
  return {
    results: answer.results.map(({ id, alias, error, series }) => ({
      ...(id === null ? {} : { id }),
      ...(alias === null ? {} : { alias }),
      ...(error === null ? { sample: series.map((each) => sampleToWire(each, timestamps)) } : { error }),
      computeStats: statsToWire(stats),
    })),
    warnings: [...answer.warnings],
    ...(isInterfacePrefix ? { compute_stats: interfaceStatsToWire(stats) } : {}),
  }
}
