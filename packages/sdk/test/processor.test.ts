import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Counter, createProcessor, Exporter, Gauge, MillraceError, type Context } from '../src/index.ts'
import { startFakeServer } from './fake-server.ts'

let service: Awaited<ReturnType<typeof startFakeServer>>
beforeEach(async () => {
  service = await startFakeServer()
})
afterEach(() => service.stop())

function processor(more: object = {}) {
  return createProcessor({
    baseUrl: service.baseUrl,
    apiKey: 'mr_test',
    project: 'demo/erc20',
    retry: { initialMs: 1, maximumMs: 5 },
    ...more,
  })
}
const block = (number: number) => ({ chain: '1', number, time: new Date(1_700_000_000_000 + number * 1000) })
const count = (context: Context) => context.meter.Counter('n').add(1)
const lines = (index: number) =>
  (service.requests[index]?.body ?? '')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('a processor', () => {
  it.each([
    [{ baseUrl: 'nonsense' }, /baseUrl must be an http or https address .*not "nonsense"/],
    [{ baseUrl: 'localhost:8080' }, /baseUrl must be an http or https address/],
    [{ apiKey: 'mr_…' }, /apiKey must be a text of ASCII characters/],
    [{ apiKey: undefined }, /apiKey must be a text/],
    [{ project: 'erc20' }, /project must be "owner\/name"/],
  ])('refuses %j at once instead of waiting for a service that cannot be', (options, pattern) => {
    expect(() => processor(options)).toThrow(pattern)
  })

  it('says unit and description of a metric once, ahead of its batch and apart from it', async () => {
    const price = Gauge.register('price', { unit: 'USD', description: 'x'.repeat(2000) })
    const plain = Gauge.register('price')
    const batchIds: unknown[] = []
    for (const gauge of [price, plain]) {
      const sut = processor()
      const before = service.requests.length
      await sut.block(block(1), (context) => gauge.record(context, 1))
      await sut.flush()
      await sut.block(block(2), (context) => gauge.record(context, 2))
      await sut.flush()
      if (gauge === price) {
        expect(lines(before)).toEqual([
          { type: 'metric', name: 'price', unit: 'USD', help: 'x'.repeat(1024) },
        ])
      }
      const batches = service.requests.slice(gauge === price ? before + 1 : before)
      batchIds.push(batches.map(({ url }) => url.searchParams.get('batchId')))
      expect(batches).toHaveLength(2)
    }
    expect(batchIds[0]).toEqual(batchIds[1])
  })

  it('sends what the handlers of a block emit as NDJSON, each record with its place (IN-1)', async () => {
    const sut = processor({ version: 3 })
    await sut.block({ ...block(7), hash: '0xaa' }, (context) => {
      const log = context.at({ transactionHash: '0xbb', logIndex: 4, address: '0xcc' })
      Counter.register('transfers').add(log, 2, { kind: 'mint', big: 5n })
      Counter.register('transfers').sub(log, 3n)
      Gauge.register('price').record(context, { toFixed: () => '12.5' })
      log.eventLogger.emit('Transfer', {
        distinctId: 'alice',
        value: 2n ** 200n,
        at: new Date(0),
        gone: undefined,
      })
    })
    await sut.flush()
    expect(service.requests[0]?.url.pathname).toBe('/api/v1/ingest/demo/erc20/batch')
    expect(service.requests[0]?.url.searchParams.get('version')).toBe('3')
    expect(service.requests[0]?.headers).toMatchObject({
      'api-key': 'mr_test',
      'content-type': 'application/x-ndjson',
    })
    const place = { chain: '1', blockNumber: 7, timestampMicros: 1_700_000_007_000_000, blockHash: '0xaa' }
    const log = { ...place, transactionHash: '0xbb', logIndex: 4, address: '0xcc' }
    expect(lines(0)).toEqual([
      { type: 'counter', name: 'transfers', value: 2, labels: { kind: 'mint', big: '5' }, ...log },
      { type: 'counter', name: 'transfers', value: { $int: '-3' }, labels: {}, ...log },
      { type: 'gauge', name: 'price', value: { $decimal: '12.5' }, labels: {}, ...place },
      {
        type: 'event',
        name: 'Transfer',
        distinctId: 'alice',
        attributes: { value: { $int: String(2n ** 200n) }, at: { $time: '1970-01-01T00:00:00.000Z' } },
        ...log,
      },
    ])
  })

  it('numbers the exports of a block per channel, and writes bigints in their data as decimal strings (EV-1, IN-6)', async () => {
    const sut = processor()
    const large = Exporter.register('large', 'treasury')
    await sut.block(block(1), (context) => {
      large.emit(context, { value: 2n ** 255n })
      Exporter.register('other', 'elsewhere').emit(context, 1)
      large.emit(context.at({ logIndex: 1 }), { value: 1 })
    })
    await sut.flush()
    expect(lines(0).map(({ channel, position, data }) => ({ channel, position, data }))).toEqual([
      { channel: 'treasury', position: 0, data: { value: String(2n ** 255n) } },
      { channel: 'elsewhere', position: 0, data: 1 },
      { channel: 'treasury', position: 1, data: { value: 1 } },
    ])
  })

  it('repeats a batch under the same id until it is accepted, and sends nothing beside it (IN-2)', async () => {
    service.plan(
      { hangUp: true },
      { status: 503, headers: { 'retry-after': '0' }, json: { code: 14, message: 'starting' } },
      { status: 429, json: { code: 8, message: 'slow down' } },
      { status: 502, text: '<html>bad gateway</html>' },
    )
    const retries: string[] = []
    const sut = processor({
      maxBatchRecords: 2,
      retry: { initialMs: 1, maximumMs: 5, onRetry: (error: Error) => retries.push(error.message) },
    })
    for (let number = 1; number <= 4; number++) await sut.block(block(number), count)
    await sut.flush()
    const ids = service.requests.map(({ url }) => url.searchParams.get('batchId'))
    expect(ids.length).toBe(6)
    expect(new Set(ids.slice(0, 5)).size).toBe(1)
    expect(ids[5]).not.toBe(ids[0])
    expect(service.requests.slice(0, 5).every(({ body }) => body === service.requests[0]?.body)).toBe(true)
    expect(retries.slice(1)).toEqual(['starting', 'slow down', '<html>bad gateway</html>'])
  })

  it('gives equal content equal batch ids over restarts, and new ones after a rollback (IN-2, IN-3)', async () => {
    for (const sut of [processor(), processor()]) {
      await sut.block(block(1), count)
      await sut.flush()
    }
    const again = processor()
    service.plan({ json: { version: 1, withdrawnExports: 4 } })
    expect(await again.rollback('1', 0)).toEqual({ version: 1, withdrawnExports: 4 })
    await again.block(block(1), count)
    await again.flush()
    const [first, second, rollback, third] = service.requests
    expect(second?.url.search).toBe(first?.url.search)
    expect(rollback?.url.pathname).toBe('/api/v1/ingest/demo/erc20/rollback')
    expect(JSON.parse(rollback?.body ?? '')).toEqual({ chain: '1', blockNumber: 0 })
    expect(third?.body).toBe(first?.body)
    expect(third?.url.search).not.toBe(first?.url.search)
  })

  it('sends what it keeps before a rollback, so that order holds (IN-3)', async () => {
    const sut = processor()
    await sut.block(block(9), count)
    await sut.rollback('1', 8)
    expect(service.requests.map(({ url }) => url.pathname.split('/').at(-1))).toEqual(['batch', 'rollback'])
  })

  it('stops with the typed error of a refused batch, and refuses what follows (ER-1)', async () => {
    const details = [{ index: 0 }]
    service.plan({ status: 400, json: { code: 3, message: 'record 0: value must be finite', details } })
    const sut = processor()
    await sut.block(block(1), count)
    const error = await sut.flush().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(MillraceError)
    expect(error).toMatchObject({ status: 400, code: 3, details, requestId: 'request-7' })
    await expect(sut.block(block(2), count)).rejects.toBe(error)
    expect(service.requests.length).toBe(1)
  })

  it('keeps a block whole: no record of it when its handler throws, never split over batches (IN-2)', async () => {
    const sut = processor({ maxBatchRecords: 3 })
    const broken = sut.block(block(1), (context) => {
      count(context)
      throw new Error('bug in a handler')
    })
    await expect(broken).rejects.toThrow('bug in a handler')
    for (const number of [2, 3]) {
      await sut.block(block(number), (context) => {
        count(context)
        count(context)
      })
    }
    await sut.flush()
    expect(service.requests.length).toBe(1)
    expect(lines(0).map(({ blockNumber }) => blockNumber)).toEqual([2, 2, 3, 3])
  })

  it('refuses a value that is no finite number, naming the metric', async () => {
    const bad = processor().block(block(1), (context) => context.meter.Gauge('price').record(Number.NaN))
    await expect(bad).rejects.toThrow('value of metric "price" must be a finite number')
  })

  it('stops retrying when its signal is aborted', async () => {
    const controller = new AbortController()
    service.plan({ status: 503 }, { status: 503 }, { status: 503 })
    const sut = processor({
      signal: controller.signal,
      retry: { initialMs: 60_000, maximumMs: 60_000, onRetry: () => controller.abort() },
    })
    await sut.block(block(1), count)
    await expect(sut.flush()).rejects.toThrow('aborted')
  })
})
