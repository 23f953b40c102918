import { client, DataService } from '@sentio/api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

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
