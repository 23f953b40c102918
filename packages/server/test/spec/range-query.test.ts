import { client, DataService } from '@sentio/api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

// One mint of 3 and one burn of 1 in every hour of the last 40 days, on the half hour.
const HOURS = 40 * 24
const HOUR_MICROS = 3_600_000_000
const thisHourMicros = Math.floor(Date.now() / 3_600_000) * HOUR_MICROS

const records = Array.from({ length: HOURS }, (_, hour) => {
  const place = {
    chain: '1',
    blockNumber: 1000 - hour + HOURS,
    timestampMicros: thisHourMicros - hour * HOUR_MICROS - HOUR_MICROS / 2,
  }
  return [
    { type: 'gauge', name: 'mint_sum', value: 3, labels: { token: 'DEMO' }, ...place },
    { type: 'gauge', name: 'burn_sum', value: 1, labels: { token: 'DEMO' }, ...place },
  ]
}).flat()

function rollupSumQuery(query: string, id: string, alias: string) {
  return {
    query,
    alias,
    id,
    labelSelector: {},
    aggregate: null,
    functions: [{ name: 'rollup_sum', arguments: [{ durationValue: { value: 1, unit: 'd' } }] }],
    disabled: false,
  }
}

const request = {
  queries: [
    rollupSumQuery('mint_sum', 'a', 'Mint (24 hours)'),
    rollupSumQuery('burn_sum', 'b', 'Burn (24 hours)'),
  ],
  formulas: [] as object[],
  timeRange: { start: 'now-30d', end: 'now', step: 3600, timezone: 'America/Los_Angeles' },
  samplesLimit: 20,
}
const path = '/metrics/demo/erc20/query_range'

let service: TestService

beforeAll(async () => {
  service = await startTestService()
  await service.post('/projects', { owner: 'demo', name: 'erc20' })
  const { status } = await service.post('/ingest/demo/erc20/batch', { batchId: 'history', records })
  expect(status).toBe(200)
})

afterAll(() => service.stop())

describe('the range query of the interface', () => {
  it('answers two rollup sums over 30 days by the hour (TR-5, TR-6, FN-2, WI-3, WI-4)', async () => {
    const { status, body } = await service.post(path, request)
    expect(status).toBe(200)
    expect(body.timeRange).toMatchObject({ step: 3600, adjusted: false, timezone: 'America/Los_Angeles' })
    expect(body.compute_stats).toEqual({
      computed_at: expect.stringMatching(/^\d{4}-.*Z$/),
      is_cached: false,
      is_refreshing: false,
    })
    const [mint, burn] = body.results
    expect([mint.id, mint.alias, burn.id]).toEqual(['a', 'Mint (24 hours)', 'b'])
    const { samples, totalSamples } = mint.matrix
    expect(totalSamples).toBe(1)
    expect(samples[0].metric).toEqual({
      name: 'mint_sum',
      displayName: 'Mint (24 hours)',
      labels: { token: 'DEMO', chain: '1' },
    })
    // 30 days, or a clock change longer or shorter, and both ends.
    expect([720, 721, 722]).toContain(samples[0].values.length)
    expect(samples[0].values[0].timestamp).toMatch(/^\d{10}$/)
    // A day from the grid point on: 24 mints of 3, or 23 or 25 over a clock change, fewer where the data ends.
    const complete = samples[0].values.slice(0, -25).map(({ value }: { value: number }) => value)
    expect(new Set(complete.filter((value: number) => ![69, 75].includes(value)))).toEqual(new Set([72]))
    const sums = (result: typeof mint) =>
      result.matrix.samples[0].values.map(({ value }: { value: number }) => value)
    expect(sums(burn)).toEqual(sums(mint).map((value: number) => value / 3))
  })

  it('subtracts one query from another (FO-1)', async () => {
    const { body } = await service.post(path, {
      ...request,
      formulas: [{ expression: 'b - a', id: 'c', alias: 'Net' }],
    })
    expect(body.results.map(({ id }: { id: string }) => id)).toEqual(['a', 'b', 'c'])
    expect(body.results[2].matrix.samples[0].values[0].value).toBe(24 - 72)
  })

  it('keeps the good results when one query fails (ER-3)', async () => {
    const broken = {
      ...rollupSumQuery('mint_sum', 'x', ''),
      functions: [{ name: 'rollup_mode', arguments: [] }],
    }
    const { status, body } = await service.post(path, { ...request, queries: [broken, ...request.queries] })
    expect(status).toBe(200)
    expect(body.results[0]).toMatchObject({ id: 'x', error: expect.stringContaining('rollup_mode') })
    expect(body.results[0]).not.toHaveProperty('matrix')
    expect(body.results[1].matrix.samples).toHaveLength(1)
  })

  it.each([0, -86_400, 1])('answers from second %s of 1970 on, by months (TR-2, TR-6)', async (start) => {
    const timeRange = { start, end: 'now', step: 2_592_000 }
    const { body } = await service.post(path, { queries: [{ query: 'mint_sum' }], timeRange })
    expect(body.results[0]).not.toHaveProperty('error')
    expect(body.results[0].matrix.samples).toHaveLength(1)
  })

  it('carries no interface names under /v1 (WI-1, WI-3)', async () => {
    const answer = await fetch(`${service.url}/v1${path}`, {
      method: 'POST',
      headers: { 'api-key': service.administratorKey },
      body: JSON.stringify(request),
    })
    const body = (await answer.json()) as Record<string, unknown>
    expect(Object.keys(body)).not.toContain('compute_stats')
    expect(body).toHaveProperty('results')
  })

  it.each([
    [{ timezone: 'Mars/Olympus' }, /timezone/i],
    [{ start: 'now-3fortnights' }, /start/],
    [{ start: 'now', end: 'now-1d' }, /start/],
    [{ step: 0 }, /step/],
  ])('refuses %j naming the field (TR-4, ER-2)', async (change, message) => {
    const { status, body } = await service.post(path, {
      ...request,
      timeRange: { ...request.timeRange, ...change },
    })
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 3, message: expect.stringMatching(message), details: [] })
  })
})

describe('the cache in front of it', () => {
  const ask = async (cachePolicy: object) =>
    (await service.post(path, { ...request, samplesOffset: 0, samplesLimit: 7, cachePolicy })).body
      .compute_stats

  it('stores, serves, bypasses and renews as the policy says (CA-2, CA-3, CA-5)', async () => {
    expect(await ask({ no_cache: true })).toMatchObject({ is_cached: false })
    const first = await ask({})
    expect(first).toMatchObject({ is_cached: false })
    expect(await ask({})).toEqual({ ...first, is_cached: true })
    expect(await ask({ noCache: true })).toMatchObject({ is_cached: false })
    expect(await ask({ cache_ttl_secs: 0, cache_refresh_ttl_secs: 0 })).toMatchObject({ is_cached: false })
    expect(await ask({ force_refresh: true })).toMatchObject({ is_cached: false })
    expect(await ask({ cacheRefreshTtlSecs: 0 })).toMatchObject({ is_cached: true, is_refreshing: true })
  })

  it('refuses no_cache together with force_refresh (CA-3)', async () => {
    const { status } = await service.post(path, {
      ...request,
      cachePolicy: { noCache: true, forceRefresh: true },
    })
    expect(status).toBe(400)
  })
})

describe('an existing client with only the base URL replaced', () => {
  it('queries a range and reads its samples', async () => {
    client.setConfig({ baseUrl: service.url, auth: service.administratorKey })
    const { data, error } = await DataService.queryRange({
      path: { owner: 'demo', slug: 'erc20' },
      body: { ...request, queries: request.queries.map(({ aggregate: _, ...query }) => query) },
    })
    expect(error).toBeUndefined()
    const matrix = data?.results?.[0]?.matrix
    expect(matrix?.samples?.[(matrix.totalSamples ?? 0) - 1]?.metric?.labels?.['token']).toBe('DEMO')
    expect(matrix?.samples?.[0]?.values?.[0]?.value).toBeTypeOf('number')
    expect(matrix?.samples?.[0]?.values?.[0]?.timestamp).toMatch(/^\d+$/)
  })

  it('gets an error as code, message and details (ER-1)', async () => {
    client.setConfig({ baseUrl: service.url, auth: 'mistaken' })
    const { error } = await DataService.queryRange({
      path: { owner: 'demo', slug: 'erc20' },
      body: request as never,
    })
    expect(error).toMatchObject({ code: 16, message: expect.stringContaining('key'), details: [] })
  })
})
