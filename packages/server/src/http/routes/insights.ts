import { InsightsAnswer, InsightsRequest } from '@millrace/contract'
import type { RunInsights } from '../../metrics/run-insights.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import { answerToWire } from './query-range.ts'

/** `POST /insights/{owner}/{project}/query`: metrics and events on one grid. */
export function insightsRoute(runInsights: RunInsights): AnyRoute {
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
    handle: async ({ body, project, signal, isInterfacePrefix }): Promise<InsightsAnswer> => {
      const { answer, stats } = await runInsights(project, body, signal)
      const wire = answerToWire(answer, stats, isInterfacePrefix)
      return {
        ...wire,
        results: wire.results.map((result, i) => ({
          ...result,
          dataSource: answer.results[i]?.dataSource ?? 'METRICS',
        })),
      }
    },
  })
}
