import { InsightsAnswer, InsightsRequest } from '@millrace/contract'
import { parseCachePolicy, type CacheDefaults } from '../../cache/parse-policy.ts'
import type { RunInsights } from '../../metrics/run-insights.ts'
import { cachedAnswer } from '../cached-answer.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { hintsOf } from '../validate.ts'
import { explainToWire, serverTiming } from './explain.ts'
import { answerToWire, hinted } from './query-range.ts'

/** `POST /insights/{owner}/{project}/query`: metrics and events on one grid. */
export function insightsRoute(runInsights: RunInsights, cacheDefaults?: CacheDefaults): AnyRoute {
  return defineRoute({
    method: 'POST',
    path: '/insights/:owner/:project/query',
    permission: 'read',
    isPublicReadable: true,
    summary: 'Time series computed from metrics and from event logs.',
    tag: 'metrics',
    body: InsightsRequest,
    isOftenRepeated: true,
    answer: InsightsAnswer,
    handle: async (context) => {
      const { body, project, signal, isInterfacePrefix } = context
      const policy = parseCachePolicy(body.cachePolicy, cacheDefaults)
      const outcome = await runInsights(project, body, policy, signal)
      const { stats } = outcome
      const { answer, cached } = hinted(outcome, hintsOf(body))
      context.setHeader('server-timing', serverTiming(outcome))
      const toWire = (): InsightsAnswer => {
        const wire = answerToWire(answer, stats, isInterfacePrefix)
        const sources = answer.results.map(({ dataSource }) => dataSource)
        return {
          ...wire,
          results: wire.results.map((result, i) => ({ ...result, dataSource: sources[i] ?? 'METRICS' })),
          ...explainToWire(outcome, body.explain),
        }
      }
      return cached ? cachedAnswer(context, cached, policy, toWire) : toWire()
    },
  })
}
