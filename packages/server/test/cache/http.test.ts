import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

const DAY_MICROS = 86_400_000_000
const nowMicros = Date.now() * 1000
const path = '/metrics/demo/erc20/query_range'
const record = (daysAgo: number, value: number) => ({
  type: 'gauge',
  name: 'price',
  value,
  chain: '1',
  blockNumber: 1000 - daysAgo,
  timestampMicros: nowMicros - daysAgo * DAY_MICROS,
})
const range = (start: string, end: string) => ({
  queries: [{ query: 'price', id: 'a' }],
  timeRange: { start, end, step: 3600 },
})

let service: TestService

beforeAll(async () => {
  service = await startTestService()
  await service.post('/projects', { owner: 'demo', name: 'erc20' })
  await ingest([record(20, 1), record(9, 2), record(1, 3)])
})
afterAll(() => service.stop())

async function ingest(records: readonly object[]): Promise<void> {
  expect((await service.post('/ingest/demo/erc20/batch', { records })).status).toBe(200)
}
async function ask(request: object, headers: Readonly<Record<string, string>> = {}) {
  const { body, ...answer } = await service.post(path, request, headers)
  return { ...answer, body, stats: body.compute_stats, values: body.results?.[0]?.matrix.samples[0]?.values }
}
async function inTurn<Result>(times: number, work: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (let i = 0; i < times; i += 1) results.push(await work())
  return results
}
/** Asks until the refresh that runs in the background has ended. */
async function askRefreshed(request: object) {
  for (;;) {
    const answer = await ask(request)
    if (!answer.stats.is_refreshing) return answer
  }
}

describe('cached answers over HTTP', () => {
  it('are due at once when late data or a rollback changes what they cover (CA-6)', async () => {
    const request = range('now-30d', 'now')
    expect((await ask(request)).stats).toMatchObject({ is_cached: false })
    expect((await ask(request)).stats).toMatchObject({ is_cached: true, is_refreshing: false })
    await ingest([record(5, 7)])
    expect((await ask(request)).stats).toMatchObject({ is_cached: true, is_refreshing: true })
    const late = await askRefreshed(request)
    expect(late.values.map(({ value }: { value: number }) => value)).toContain(7)
    expect(late.body.results[0].computeStats).toMatchObject({ isCached: true, dataVersion: '2' })
    const order = { chain: '1', blockNumber: 994 }
    expect((await service.post('/ingest/demo/erc20/rollback', order)).status).toBe(200)
    expect((await ask(request)).stats).toMatchObject({ is_cached: true, is_refreshing: true })
    const values = (await askRefreshed(request)).values.map(({ value }: { value: number }) => value)
    expect(new Set(values)).toEqual(new Set([1, 2]))
  })

  it('of a range that is over are not touched by what comes later (CA-6)', async () => {
    const request = range('now-15d', 'now-10d')
    await ask(request)
    await ingest([record(0, 9)])
    expect((await ask(request)).stats).toMatchObject({ is_cached: true, is_refreshing: false })
  })

  it('carry ETag, Age and Cache-Control, and are not sent again to who has them', async () => {
    const request = {
      ...range('now-14d', 'now-10d'),
      cachePolicy: { cacheTtlSecs: 900, cacheRefreshTtlSecs: 100 },
    }
    const first = await ask(request)
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^W\/"[\w-]{27}"$/)
    const second = await ask(request)
    expect(second.headers.get('etag')).toBe(etag)
    expect(second.headers.get('cache-control')).toBe(
      'private, max-age=100, stale-while-revalidate=800, stale-if-error=800',
    )
    expect(Number(second.headers.get('age'))).toBeGreaterThanOrEqual(0)
    const known = await service.post(path, request, { 'if-none-match': `"other", ${etag}` })
    expect([known.status, known.body]).toEqual([304, ''])
    expect((await service.post(path, request, { 'if-none-match': '"other"' })).status).toBe(200)
    const without = await ask({ ...request, cachePolicy: { noCache: true } })
    expect(without.headers.get('cache-control')).toBe('no-store')
    expect(without.headers.get('etag')).toBe(null)
  })

  it('say the same in every encoding', async () => {
    const request = range('now-13d', 'now-10d')
    await ask(request)
    const plain = await ask(request, { 'accept-encoding': 'identity' })
    for (const encoding of ['br', 'zstd', 'gzip']) {
      for (let i = 0; i < 2; i++) {
        const answer = await ask(request, { 'accept-encoding': `deflate, ${encoding}` })
        expect(answer.headers.get('content-encoding')).toBe(encoding)
        expect(answer.body).toEqual(plain.body)
      }
    }
    const refused = await ask(request, { 'accept-encoding': 'br;q=0, gzip' })
    expect(refused.headers.get('content-encoding')).toBe('gzip')
  })

  it('come again in the same form, and only to who may have them (AU-3)', async () => {
    const request = range('now-11d', 'now-10d')
    const { body: key } = await service.post('/keys', { owner: 'demo', name: 'short', permissions: ['read'] })
    const headers = { 'api-key': key.secret, 'accept-encoding': 'gzip' }
    await ask(request, headers)
    // The second is the first from the cache; those after it take the short way.
    const [second, ...others] = await inTurn(4, () => ask(request, headers))
    for (const other of others) {
      expect(other.body).toEqual(second?.body)
      expect([...other.headers.keys()]).toEqual([...(second?.headers.keys() ?? [])])
      expect(other.headers.get('etag')).toBe(second?.headers.get('etag'))
      expect(other.headers.get('server-timing')).toMatch(/^cache;desc="memory", total;dur=/)
    }
    const requestIds = new Set(others.map((other) => other.headers.get('x-request-id')))
    expect(requestIds.size).toBe(others.length)
    expect((await service.get('/service/metrics', headers)).status).toBe(403)
    const revoked = await fetch(`${service.url}/api/v1/keys/${key.key.id}`, {
      method: 'DELETE',
      headers: { 'api-key': service.administratorKey },
    })
    expect(revoked.ok).toBe(true)
    expect((await service.post(path, request, headers)).status).toBe(401)
  })

  it.each(['identity', 'gzip', 'zstd', 'br'])(
    'are not touched by what else is answered, as %s',
    async (encoding) => {
      const headers = { 'accept-encoding': encoding }
      const requests = [3, 4, 5, 6].map((days) => range(`now-${days + 4}d`, `now-${days}d`))
      const first = await Promise.all(requests.map((request) => ask(request, headers)))
      for (let round = 0; round < 3; round += 1) {
        const again = await Promise.all(requests.map((request) => ask(request, headers)))
        expect(again.map(({ values }) => values)).toEqual(first.map(({ values }) => values))
      }
      expect(new Set(first.map(({ values }) => values.length))).toEqual(new Set([97]))
    },
  )

  it('are counted for the operator, failed refreshes too', async () => {
    const counters = await service.get('/service/metrics')
    expect(counters.headers.get('content-type')).toContain('text/plain; version=0.0.4')
    const counted = (name: string) =>
      Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(String(counters.body))?.[1] ?? 'none')
    expect(counted('millrace_cache_answers_total{decision="serve"}')).toBeGreaterThan(0)
    expect(counted('millrace_cache_computations_total')).toBeGreaterThan(0)
    expect(counted('millrace_cache_refresh_failures_total')).toBe(0)
    const route = '/api/v1/metrics/:owner/:project/query_range'
    expect(
      counted(`millrace_http_requests_total{method="POST",route="${route}",status="200"}`),
    ).toBeGreaterThan(0)
    expect(counted('millrace_ingest_records_total')).toBeGreaterThan(0)
    expect(counted('millrace_webhook_attempts_total{outcome="acknowledged"}')).toBe(0)
    expect(counted('millrace_webhook_queue_bytes')).toBe(0)
    expect(counted('millrace_engine_up{engine="facts"}')).toBe(1)
    expect(counted('millrace_engine_up{engine="control"}')).toBe(1)
    expect(counted('millrace_disk_free_bytes')).toBeGreaterThan(0)
    expect(counted('process_resident_memory_bytes')).toBeGreaterThan(0)
    const key = await service.post('/keys', { owner: 'demo', name: 'reader', permissions: ['admin'] })
    const asOwner = await service.get('/service/metrics', { 'api-key': key.body.secret })
    expect(asOwner.status).toBe(403)
  })

  it('tell the block that they include the data up to', async () => {
    const { body } = await ask(range('now-12d', 'now'))
    expect(body.results[0].computeStats.blockHeights).toEqual({ '1': '1000' })
  })

  it('of SQL follow the tables they read (CA-6)', async () => {
    const sql = (text: string) =>
      service.post('/analytics/demo/erc20/sql/execute', { sqlQuery: { sql: text } }).then(({ body }) => body)
    const count = 'select count() as n from price'
    const [{ n: before }] = (await sql(count)).result.rows
    await sql('select now() as t, count() from price')
    expect((await sql(count)).compute_stats).toMatchObject({ is_cached: true, is_refreshing: false })
    await ingest([{ ...record(3, 1), name: 'volume' }])
    expect((await sql(count)).compute_stats).toMatchObject({ is_cached: true, is_refreshing: false })
    await ingest([record(12, 5)])
    expect((await sql(count)).compute_stats).toMatchObject({ is_cached: true, is_refreshing: true })
    for (;;) {
      const { compute_stats: stats, result } = await sql(count)
      if (stats.is_refreshing) continue
      expect(result.rows[0].n).toBe(before + 1)
      break
    }
  })

  it('that cannot be renewed are served until their ttl, and say so to callers and to the operator (CA-4)', async () => {
    const path = '/analytics/demo/erc20/sql/execute'
    // Fails as soon as there is a third record.
    const sqlQuery = { sql: 'select intDiv(12, 3 - count()) as n from fragile' }
    const ask = async () => (await service.post(path, { sqlQuery })).body
    const failures = async () =>
      Number(
        /^millrace_cache_refresh_failures_total (\d+)$/m.exec(
          (await service.get('/service/metrics')).body,
        )?.[1],
      )
    const fragile = (daysAgo: number) => ({ ...record(daysAgo, 1), name: 'fragile' })
    await ingest([fragile(9), fragile(8)])
    const [row] = (await ask()).result.rows
    const before = await failures()
    await ingest([fragile(10)])
    let answer = await ask()
    expect(answer.compute_stats).toMatchObject({ is_cached: true, is_refreshing: true })
    while (answer.computeStats.refreshFailure === undefined) answer = await ask()
    expect(answer.result.rows).toEqual([row])
    expect(answer.compute_stats).toMatchObject({ is_cached: true })
    const { message, attempts, retryAt } = answer.computeStats.refreshFailure
    expect(message).toMatch(/division by zero/i)
    expect(attempts).toBeGreaterThanOrEqual(1)
    expect(Date.parse(retryAt)).toBeGreaterThan(Date.parse(answer.computeStats.computedAt))
    expect(await failures()).toBeGreaterThan(before)
    const impatient = await service.post(path, { sqlQuery, cachePolicy: { cacheTtlSecs: 0 } })
    expect([impatient.status, impatient.body.message]).toEqual([
      400,
      expect.stringMatching(/division by zero/i),
    ])
  })
})
