import { Type } from 'typebox'
import type { CacheCounts } from '../../cache/cache-counts.ts'
import type { AttemptCounts } from '../../delivery/attempt-counts.ts'
import type { ChannelCounts } from '../../delivery/channel-counts.ts'
import type { QueuedBytes } from '../../delivery/queue-bound.ts'
import type { StoredCounts } from '../../ingest/stored-counts.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { StorageUsage } from '../../projects/storage-usage.ts'
import { writeFamilies, type Family } from '../exposition/family.ts'
import { createProcessFamilies } from '../exposition/process-families.ts'
import type { RequestCounts } from '../exposition/request-counts.ts'
import {
  attemptFamilies,
  cacheFamilies,
  channelFamilies,
  diskFamilies,
  engineFamilies,
  ingestFamilies,
  queueFamilies,
} from '../exposition/service-families.ts'
import { defineRoute, type AnyRoute } from '../route.ts'
import type { StatedEngine } from './service-status.ts'

export interface ServiceMetricsDependencies {
  readonly requests: Pick<RequestCounts, 'families'>
  readonly cache: () => CacheCounts
  readonly stored: () => StoredCounts
  readonly attempts: () => AttemptCounts
  readonly channels: () => Promise<ChannelCounts>
  readonly queued: () => Promise<readonly QueuedBytes[]>
  readonly engines: readonly StatedEngine[]
  readonly usage: StorageUsage
}

/** `GET /service/metrics`: numbers of this process in the text format of Prometheus, for the operator's own monitoring. */
export function serviceMetricsRoute(dependencies: ServiceMetricsDependencies): AnyRoute {
  const { requests, cache, stored, attempts, channels, queued, engines, usage } = dependencies
  const processFamilies = createProcessFamilies()
  const sources: readonly (() => readonly Family[] | Promise<readonly Family[]>)[] = [
    requests.families,
    () => cacheFamilies(cache()),
    () => ingestFamilies(stored()),
    () => attemptFamilies(attempts()),
    async () => channelFamilies(await channels()),
    async () => queueFamilies(await queued()),
    async () => engineFamilies(await Promise.all(engines.map(ask))),
    async () => diskFamilies(await usage.disk()),
    processFamilies,
  ]
  return defineRoute({
    method: 'GET',
    path: '/service/metrics',
    permission: 'admin',
    summary: 'Numbers of this process, its engines and channels, in the text format of Prometheus.',
    tag: 'management',
    answer: Type.String(),
    handle: async ({ key, setHeader }): Promise<string> => {
      if (key?.owner !== null || key.projectIds !== null) {
        throw new ServiceError('permission_denied', 'only a key of the whole service may see its state')
      }
      setHeader('cache-control', 'no-store')
      setHeader('content-type', 'text/plain; version=0.0.4; charset=utf-8')
      const told = await Promise.allSettled(sources.map(async (source) => source()))
      // What an engine that is away would have told is left out; that it is away is among the rest.
      const families = told.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
      return writeFamilies(families)
    },
  })
}

async function ask({ name, ping }: StatedEngine): Promise<readonly [string, boolean]> {
  const isUp = await ping().then(
    () => true,
    () => false,
  )
  return [name, isUp]
}
