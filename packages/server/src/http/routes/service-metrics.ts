import { Type } from 'typebox'
import type { CacheCounts } from '../../cache/cache-counts.ts'
import type { ChannelCounts } from '../../delivery/channel-counts.ts'
import { ServiceError } from '../../platform/errors.ts'
import { defineRoute, type AnyRoute } from '../route.ts'

/** `GET /service/metrics`: counters of this process in the text format of Prometheus, for the operator's own monitoring. */
export function serviceMetricsRoute(
  cache: () => CacheCounts,
  channels: () => Promise<ChannelCounts>,
): AnyRoute {
  return defineRoute({
    method: 'GET',
    path: '/service/metrics',
    permission: 'admin',
    summary: 'Counters of this process and channels that fail, in the text format of Prometheus.',
    tag: 'management',
    answer: Type.String(),
    handle: async ({ key, setHeader }): Promise<string> => {
      if (key?.owner !== null || key.projectIds !== null) {
        throw new ServiceError('permission_denied', 'only a key of the whole service may see its state')
      }
      setHeader('cache-control', 'no-store')
      setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8')
      return expositionOf(cache(), await channels())
    },
  })
}

function expositionOf(
  { decisions, computations, refreshFailures }: CacheCounts,
  channels: ChannelCounts,
): string {
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
    '# HELP millrace_webhook_channels Channels of all projects that do not deliver at present, by why (DL-12).',
    '# TYPE millrace_webhook_channels gauge',
    `millrace_webhook_channels{status="failing"} ${channels.failing}`,
    `millrace_webhook_channels{status="disabled"} ${channels.disabled}`,
    `millrace_webhook_channels{status="paused"} ${channels.paused}`,
    '# HELP millrace_webhook_failing_since_seconds Unix time since when the channel fails that fails longest; 0 for none.',
    '# TYPE millrace_webhook_failing_since_seconds gauge',
    `millrace_webhook_failing_since_seconds ${channels.failingSinceAt === null ? 0 : channels.failingSinceAt / 1000}`,
    '',
  ].join('\n')
}
