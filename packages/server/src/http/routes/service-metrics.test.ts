import { expect, it } from 'vitest'
import { silentLogger } from '../../platform/logger.ts'
import type { ApiKey } from '../../projects/project.ts'
import { buildApp } from '../app.ts'
import { serviceMetricsRoute } from './service-metrics.ts'

const KEY: ApiKey = {
  id: 1,
  name: 'administrator',
  owner: null,
  projectIds: null,
  permissions: ['admin'],
  createdAt: 0,
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
}
const isAway = () => Promise.reject(new Error('away'))

it('tells what it can while an engine is away, and that it is', async () => {
  const route = serviceMetricsRoute({
    requests: { families: () => [] },
    cache: () => ({ decisions: { serve: 3 } as never, computations: 2, refreshFailures: 0 }),
    stored: () => ({ records: 7, batches: 1 }),
    attempts: () => ({
      attempts: { acknowledged: 4, refused: 1, timed_out: 0, unreachable: 0 },
      messages: { acknowledged: 40, dead: 5 },
    }),
    channels: isAway,
    queued: () => Promise.resolve([{ projectId: 1, channel: 'a', bytes: 5 }]),
    engines: [
      { name: 'facts', product: 'chDB', ping: () => Promise.resolve() },
      { name: 'control', product: 'SQLite', ping: isAway },
    ],
    usage: { disk: isAway, ofProject: isAway },
  })
  const app = await buildApp({
    log: silentLogger,
    bodyLimitBytes: 1024,
    routes: [route],
    access: { check: () => Promise.resolve({ key: KEY, project: null }), recall: () => null },
    checkReady: () => Promise.resolve(),
  })
  const { statusCode, body } = await app.inject({ url: '/api/v1/service/metrics' })
  await app.close()
  expect(statusCode).toBe(200)
  const lines = body.split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'millrace_cache_answers_total{decision="serve"} 3',
      'millrace_ingest_records_total 7',
      'millrace_webhook_attempts_total{outcome="refused"} 1',
      'millrace_webhook_messages_total{end="dead"} 5',
      'millrace_webhook_queue_bytes 5',
      'millrace_engine_up{engine="facts"} 1',
      'millrace_engine_up{engine="control"} 0',
    ]),
  )
  expect(body).not.toMatch(/millrace_webhook_channels|millrace_disk/)
})
