import { readFileSync } from 'node:fs'
import { ServiceStatus } from '@millrace/contract'
import { ServiceError } from '../../platform/errors.ts'
import type { Clock } from '../../platform/clock.ts'
import type { StorageUsage } from '../../projects/storage-usage.ts'
import { defineRoute, type AnyRoute } from '../route.ts'

/** An engine that the service works with. */
export interface StatedEngine {
  /** What it holds: `facts`, or `control`. */
  readonly name: 'facts' | 'control'
  /** Which engine it is, for people. */
  readonly product: string
  /** Resolves when it answers. */
  readonly ping: () => Promise<void>
}

export interface ServiceStatusDependencies {
  readonly engines: readonly StatedEngine[]
  readonly usage: StorageUsage
  readonly clock: Clock
}

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** `GET /service`: how the service is, for the operator. It concerns all owners, so a key of one may not see it. */
export function serviceStatusRoute({ engines, usage, clock }: ServiceStatusDependencies): AnyRoute {
  const startedAt = new Date(clock.now()).toISOString()
  return defineRoute({
    method: 'GET',
    path: '/service',
    permission: 'admin',
    summary: 'The version of the service, whether its engines answer, and the disk.',
    tag: 'management',
    answer: ServiceStatus,
    handle: async ({ key, setHeader }): Promise<ServiceStatus> => {
      if (key?.owner !== null || key.projectIds !== null) {
        throw new ServiceError('permission_denied', 'only a key of the whole service may see its state')
      }
      setHeader('cache-control', 'no-store')
      const [stated, disk] = await Promise.all([
        Promise.all(engines.map((engine) => stateOf(engine, clock))),
        // An engine that is down has no disk to tell of; that it is down is the answer.
        usage.disk().catch(() => null),
      ])
      return { version, startedAt, engines: stated, disk }
    },
  })
}

async function stateOf({ name, product, ping }: StatedEngine, clock: Clock) {
  const askedAt = clock.monotonic()
  try {
    await ping()
    return {
      name,
      product,
      isAnswering: true,
      latencyMs: Math.round((clock.monotonic() - askedAt) * 10) / 10,
    }
  } catch {
    return { name, product, isAnswering: false, latencyMs: null }
  }
}
