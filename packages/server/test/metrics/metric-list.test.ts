import { client, DataService } from '@sentio/api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMetricCatalog } from '../../src/clickhouse/metric-catalog.ts'
import { startTestEngine } from '../support/fact-engine.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { storeSamples } from './samples.ts'

const AT_MS = Date.UTC(2026, 5, 1, 12)

describe('the metric list', () => {
  let service: TestService

  beforeAll(async () => {
    service = await startTestService()
    await service.post('/projects', { owner: 'demo', name: 'list' })
    const place = {
      chain: '1',
      blockNumber: 1,
      timestampMicros: AT_MS * 1000,
      contract: 'Pool',
      address: '0xab',
    }
    await service.post('/ingest/demo/list/batch', {
      records: [
        { type: 'gauge', name: 'price', value: 1, labels: { token: 'WETH' }, ...place },
        { type: 'gauge', name: 'price', value: 2, labels: { token: 'CAKE' }, ...place, chain: '56' },
        { type: 'counter', name: 'swaps', value: 1, ...place },
      ],
    })
  })
  afterAll(() => service.stop())

  it('has names, types, labels and the time of the last sample (MQ-10)', async () => {
    const { status, body } = await service.get('/metrics?projectId=demo/list')
    expect(status).toBe(200)
    expect(body.metrics).toMatchObject([
      {
        name: 'price',
        projectId: 'demo/list',
        chainId: ['1', '56'],
        contractName: ['Pool'],
        contractAddress: ['0xab'],
        labels: { token: { values: ['CAKE', 'WETH'] } },
        metadata: { type: 'gauge', lastSeen: '2026-06-01T12:00:00.000Z' },
        seriesCount: 2,
      },
      { name: 'swaps', metadata: { type: 'counter' }, seriesCount: 1 },
    ])
    const one = await service.get('/metrics?project_id=demo/list&name=swaps')
    expect(one.body.metrics.map(({ name }: { name: string }) => name)).toEqual(['swaps'])
  })

  it('has unit and help as they were said last, on every start (MQ-10)', async () => {
    const say = (records: readonly object[]) => service.post('/ingest/demo/list/batch', { records })
    const metadata = async () => {
      const { body } = await service.get('/metrics?projectId=demo/list')
      return body.metrics.map((each: { metadata: { unit: string; help: string } }) => [
        each.metadata.unit,
        each.metadata.help,
      ])
    }
    expect(await metadata()).toEqual([
      ['', ''],
      ['', ''],
    ])
    const first = await say([
      { type: 'metric', name: 'price', unit: 'USD', help: "A token's price; not 'spot'\\" },
      { type: 'gauge', name: 'price', value: 3, timestampMicros: AT_MS * 1000 },
      { type: 'metric', name: 'absent', unit: 's' },
    ])
    expect(first.body).toMatchObject({ accepted: 3, warnings: [] })
    expect(await metadata()).toEqual([
      ['USD', "A token's price; not 'spot'\\"],
      ['', ''],
    ])
    await say([{ type: 'metric', name: 'price', unit: 'EUR' }])
    await say([{ type: 'metric', name: 'swaps', help: 'Swaps' }])
    await service.restart()
    expect(await metadata()).toEqual([
      ['EUR', ''],
      ['', 'Swaps'],
    ])
    for (const [field, value] of [
      ['unit', 'x'.repeat(65)],
      ['help', 7],
      ['name', ''],
    ] as const) {
      const { status, body } = await say([{ type: 'metric', name: 'price', [field]: value }])
      expect([status, body.details[0].field]).toEqual([400, field])
    }
    expect((await metadata())[0]).toEqual(['EUR', ''])
  })

  it('is empty for a project without data (MQ-10)', async () => {
    await service.post('/projects', { owner: 'demo', name: 'empty' })
    expect((await service.get('/metrics?projectId=demo/empty')).body).toEqual({ metrics: [] })
  })

  it('is read by the typed client (MQ-10)', async () => {
    client.setConfig({ baseUrl: service.url, auth: service.administratorKey })
    const { data } = await DataService.getMetrics({ query: { projectId: 'demo/list' } })
    expect(data?.metrics?.[1]?.metadata?.type).toBe('counter')
  })

  it('needs a key that may read the project that the query names (AU-3)', async () => {
    const ask = (query: string, headers: Record<string, string>) => service.get(`/metrics${query}`, headers)
    expect((await ask('?projectId=demo/list', { 'api-key': '' })).status).toBe(401)
    expect((await ask('?projectId=demo/absent', {})).status).toBe(404)
    const { body } = await service.post('/keys', { owner: 'stranger', name: 'k', permissions: ['read'] })
    expect((await ask('?projectId=demo/list', { 'api-key': body.secret ?? body.key })).status).toBe(403)
    for (const query of ['', '?projectId=demo', '?projectId=demo/list/more']) {
      expect((await ask(query, {})).status).toBe(400)
    }
  })
})

it('lists the metrics of a version that nothing was sent to since builds that kept no units (MQ-10)', async () => {
  const facts = await startTestEngine()
  try {
    const place = { timestampMicros: AT_MS * 1000, blockNumber: 1, ordinal: 0 }
    await storeSamples(facts.engine, 3, [{ metric: 'old', type: 'gauge', labels: {}, value: 1, ...place }])
    const { signal } = new AbortController()
    const listed = await createMetricCatalog(facts.engine).list(
      { projectId: 3, version: 1, name: null },
      signal,
    )
    expect(listed).toMatchObject([{ name: 'old', unit: '', help: '', lastSeenAt: AT_MS }])
  } finally {
    await facts.stop()
  }
})
