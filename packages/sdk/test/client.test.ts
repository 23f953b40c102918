import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient, MillraceError } from '../src/index.ts'
import { startFakeServer } from './fake-server.ts'

let service: Awaited<ReturnType<typeof startFakeServer>>
beforeEach(async () => {
  service = await startFakeServer()
})
afterEach(() => service.stop())
const client = () => createClient({ baseUrl: `${service.baseUrl}/`, apiKey: 'mr_test' })

const page = (rows: object[], cursor?: string) => ({
  json: { result: { columns: ['n'], columnTypes: { n: 'NUMBER' }, rows, cursor } },
})

describe('a client', () => {
  it('walks all pages of a result, sending the cursor alone after the first (CU-2)', async () => {
    service.plan(page([{ n: 1 }, { n: 2 }], 'c1'), page([{ n: 3 }], 'c2'), page([{ n: 4 }], ''))
    const rows: unknown[] = []
    for await (const row of client().sqlRows('demo/erc20', { sql: 'select 1', size: 2 })) rows.push(row)
    expect(rows).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }])
    expect(service.requests.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { sqlQuery: { sql: 'select 1', size: 2 } },
      { cursor: 'c1' },
      { cursor: 'c2' },
    ])
  })

  it('sends a range query with the key as header api-key (AU-1)', async () => {
    service.plan({ json: { results: [], computeStats: { isCached: false } } })
    const body = { queries: [{ query: 'mint_sum' }], timeRange: { start: 'now-1d', end: 'now' } }
    const answer = await client().queryRange('demo/erc20', body)
    expect(answer.results).toEqual([])
    expect(service.requests[0]?.url.pathname).toBe('/api/v1/metrics/demo/erc20/query_range')
    expect(service.requests[0]?.headers['api-key']).toBe('mr_test')
    expect(JSON.parse(service.requests[0]?.body ?? '')).toEqual({ formulas: [], ...body })
  })

  it.each(['', '/', '/api/v1', '/api/v1/'])('takes an address that ends with %j (WI-1)', async (end) => {
    service.plan({ json: { messages: [] } })
    const baseUrl = `${service.baseUrl}/behind/proxy${end}`
    await createClient({ baseUrl, apiKey: 'mr_test' }).pullDeadLetters('demo/erc20')
    expect(service.requests[0]?.url.pathname).toBe('/behind/proxy/api/v1/webhook/deadletter/demo/erc20')
  })

  it('pulls dead letters with limit, after and channel (DD-1, DD-2)', async () => {
    service.plan({ json: { messages: [] } })
    await client().pullDeadLetters('demo/erc20', { limit: 3, after: '12', channel: 'treasury' })
    expect(service.requests[0]?.url.search).toBe('?limit=3&after=12&channel=treasury')
    expect(service.requests[0]?.method).toBe('GET')
  })

  it('throws what the service says as a typed error (ER-1)', async () => {
    service.plan({ status: 401, json: { code: 16, message: 'unknown key', details: [] } })
    const error = await client()
      .executeSql('demo/erc20', { sql: 'select 1' })
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(MillraceError)
    expect(error).toMatchObject({ status: 401, code: 16, message: 'unknown key', requestId: 'request-7' })
  })

  it('compresses bodies of more than a kilobyte, to this machine only when it is told to', async () => {
    const sql = `select '${'é'.repeat(2000)}'`
    const zipping = createClient({ baseUrl: service.baseUrl, apiKey: 'mr_test', gzip: true })
    for (const each of [client(), zipping]) {
      service.plan(page([]))
      await each.executeSql('demo/erc20', { sql })
    }
    service.plan(page([]))
    await zipping.executeSql('demo/erc20', { sql: 'select 1' })
    const encodings = service.requests.map(({ headers }) => headers['content-encoding'])
    expect(encodings).toEqual([undefined, 'gzip', undefined])
    expect(JSON.parse(service.requests[1]?.body ?? '')).toEqual({ sqlQuery: { sql } })
  })

  it('names the form a project has', async () => {
    await expect(client().executeSql('erc20', { sql: 'select 1' })).rejects.toThrow('"owner/name"')
  })
})
