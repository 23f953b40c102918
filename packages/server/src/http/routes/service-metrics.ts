import { Type } from 'typebox'
import type { CacheCounts } from '../../cache/cache-counts.ts'
import { ServiceError } from '../../platform/errors.ts'
import { defineRoute, type AnyRoute } from '../route.ts'

/** `GET /service/metrics`: counters of this process in the text format of Prometheus, for the operator's own monitoring. */
export function serviceMetricsRoute(cache: () => CacheCounts): AnyRoute {
  return defineRoute({
    method: 'GET',
    path: '/service/metrics',
    permission: 'admin',
    summary: 'Counters of this process, in the text format of Prometheus.',
    tag: 'management',
    answer: Type.String(),
    handle: ({ key, setHeader }): string => {
      if (key?.owner !== null || key.projectIds !== null) {
        throw new ServiceError('permission_denied', 'only a key of the whole service may see its state')
      }
      setHeader('cache-control', 'no-store')
      setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8')
      return expositionOf(cache())
    },
  })
}

function expositionOf({ decisions, computations, refreshFailures }: CacheCounts): string {
  const byDecision = Object.entries(decisions).map(
    ([decision, count]) => `millrace_cache_answers_total{decision="${decision}"} ${count}`,
  )
  return [
    '# HELP millrace_cache_answers_total Requests, by what the cache decided about them.',
    '# TYPE millrace_cache_answers_total counter',
    ...byDecision,
    '# HELP millrace_cache_computations_total Answers that were computed.',
    '# TYPE millrace_cache_computations_total counter',
    `millrace_cache_computations_total ${computations}`,
    '# HELP millrace_cache_refresh_failures_total Background refreshes that failed.',
    '# TYPE millrace_cache_refresh_failures_total counter',
    `millrace_cache_refresh_failures_total ${refreshFailures}`,
    '',
  ].join('\n')
}
