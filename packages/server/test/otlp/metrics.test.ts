import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeProtobuf } from '../../src/ingest/decode-protobuf.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { double, fixed, integer, packed, sized, zigzag } from './encode-protobuf.ts'

let service: TestService

beforeAll(async () => {
  service = await startTestService()
  await service.post('/projects', { owner: 'test', name: 'p' })
})
afterAll(() => service.stop())

const JSON_TYPE = { 'content-type': 'application/json' }
const TIME = '1700000000123456789'
const METRICS = '/otlp/test/p/v1/metrics'

const rows = async (sql: string) => {
  const { body } = await service.post('/analytics/test/p/sql/execute', { sqlQuery: { sql } })
  return body.result?.rows ?? body
}
const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
const request = (...metrics: readonly object[]) => ({
  resourceMetrics: [
    {
      resource: { attributes: [attribute('service.name', 'node'), attribute('host.name', 'a')] },
      scopeMetrics: [{ scope: { name: 'x' }, metrics }],
    },
  ],
})
const sendProtobuf = (fields: readonly Uint8Array[]) =>
  fetch(`${service.url}/api/v1${METRICS}`, {
    method: 'POST',
    headers: { 'api-key': service.administratorKey, 'content-type': 'application/x-protobuf' },
    body: Buffer.concat(fields),
  })

describe('metrics of OpenTelemetry', () => {
  it('become gauges, and counters where they are deltas, labelled by resource and point', async () => {
    const point = { timeUnixNano: TIME, attributes: [attribute('method', 'GET')] }
    const answer = await service.post(
      METRICS,
      request(
        { name: 'pool.size', gauge: { dataPoints: [{ ...point, asInt: '9223372036854775807' }] } },
        {
          name: 'requests',
          sum: { aggregationTemporality: 1, isMonotonic: true, dataPoints: [{ ...point, asDouble: 2.5 }] },
        },
        { name: 'uptime', sum: { aggregationTemporality: 2, dataPoints: [{ ...point, asDouble: 7 }] } },
      ),
      JSON_TYPE,
    )
    expect([answer.status, answer.body]).toEqual([200, {}])
    const labels = { service_name: 'node', host_name: 'a', method: 'GET' }
    for (const [metric, value] of [
      ['requests', 2.5],
      ['uptime', 7],
      ['pool_size', Number(9223372036854775807n)],
    ] as const) {
      const { body } = await service.post('/metrics/test/p/query_range', {
        queries: [{ query: metric }],
        timeRange: { start: 1_700_000_000_000, end: 1_700_000_060_000, step: 60 },
      })
      const [sample] = body.results[0].matrix.samples
      expect(sample.metric.labels).toEqual(labels)
      expect(sample.values.at(-1).value).toBe(value)
    }
    const stored = await rows('select timestamp from requests')
    expect(stored).toEqual([{ timestamp: '2023-11-14T22:13:20.123456Z' }])
  })

  it('bring their unit and description into the list of metrics (MQ-10)', async () => {
    const point = { timeUnixNano: TIME, asDouble: 1 }
    const long = 'x'.repeat(1023) + '😀'
    await service.post(
      METRICS,
      request(
        { name: 'heap.used', unit: 'By', description: long, gauge: { dataPoints: [point] } },
        {
          name: 'duration',
          unit: 's',
          histogram: {
            aggregationTemporality: 2,
            dataPoints: [{ ...point, count: 1, sum: 1, bucketCounts: [1] }],
          },
        },
        { name: 'broken', unit: 7, description: {}, gauge: { dataPoints: [point] } },
      ),
      JSON_TYPE,
    )
    await sendProtobuf([
      sized(1, [
        sized(2, [
          sized(2, [
            sized(1, 'queue'),
            sized(2, 'Waiting'),
            sized(3, '{item}'),
            sized(5, [sized(1, [fixed(3, BigInt(TIME)), double(4, 3)])]),
          ]),
        ]),
      ]),
    ])
    const { body } = await service.get('/metrics?projectId=test/p')
    const metadata = Object.fromEntries(
      body.metrics.map(({ name, metadata }: { name: string; metadata: { unit: string; help: string } }) => [
        name,
        [metadata.unit, metadata.help],
      ]),
    )
    expect(metadata).toMatchObject({
      heap_used: ['By', 'x'.repeat(1023) + '\ufffd'],
      duration_bucket: ['', ''],
      duration_count: ['', ''],
      duration_sum: ['s', ''],
      broken: ['', ''],
      queue: ['{item}', 'Waiting'],
    })
  })

  it('are read from protobuf as from JSON, histograms of both kinds and summaries among them', async () => {
    const label = sized(7, [sized(1, 'zone'), sized(2, [integer(3, 5)])])
    const exponential = [
      sized(1, [sized(1, 'zone'), sized(2, [sized(1, 'z')])]),
      fixed(3, BigInt(TIME)),
      fixed(4, 6),
      double(5, 20),
      zigzag(6, 0),
      fixed(7, 1),
      sized(8, [zigzag(1, -1), sized(2, Buffer.from([2, 3]))]),
    ]
    const explicit = [fixed(3, BigInt(TIME)), fixed(4, 3), double(5, 9), packed(6, [1n, 2n]), packed(7, [4])]
    const summary = [
      fixed(3, BigInt(TIME)),
      fixed(4, 2),
      double(5, 3),
      sized(6, [double(1, 0.5), double(2, 1.25)]),
    ]
    const metrics = [
      sized(2, [sized(1, 'bin.gauge'), sized(5, [sized(1, [fixed(3, BigInt(TIME)), fixed(6, -3), label])])]),
      sized(2, [sized(1, 'bin.explicit'), sized(9, [sized(1, explicit), integer(2, 1)])]),
      sized(2, [sized(1, 'bin.exponential'), sized(10, [sized(1, exponential), integer(2, 2)])]),
      sized(2, [sized(1, 'bin.summary'), sized(11, [sized(1, summary)])]),
    ]
    const answer = await sendProtobuf([sized(1, [sized(2, metrics)])])
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-protobuf'])
    expect((await answer.arrayBuffer()).byteLength).toBe(0)
    expect(await rows("select value, labels['zone'] as zone from bin_gauge")).toEqual([
      { value: -3, zone: '5' },
    ])
    expect(await rows("select labels['le'] as le, value from bin_explicit_bucket order by value")).toEqual([
      { le: '4', value: 1 },
      { le: '+Inf', value: 3 },
    ])
    expect(
      await rows("select labels['le'] as le, value from bin_exponential_bucket order by value, le"),
    ).toEqual([
      { le: '0', value: 1 },
      { le: '1', value: 3 },
      { le: '+Inf', value: 6 },
      { le: '2', value: 6 },
    ])
    expect(await rows("select labels['quantile'] as quantile, value from bin_summary")).toEqual([
      { quantile: '0.5', value: 1.25 },
    ])
    expect(await rows('select value from bin_summary_sum')).toEqual([{ value: 3 }])
  })

  it('are stored once when a sender repeats a request (IN-2)', async () => {
    const body = request({
      name: 'repeated',
      sum: { aggregationTemporality: 1, dataPoints: [{ timeUnixNano: TIME, asDouble: 1 }] },
    })
    for (let i = 0; i < 3; i++) expect((await service.post(METRICS, body, JSON_TYPE)).status).toBe(200)
    expect(await rows('select count() as n from repeated')).toEqual([{ n: 1 }])
  })

  it('are stored without those at fault, which are told as a partial success', async () => {
    const good = { timeUnixNano: TIME, asDouble: 4 }
    const bad = { ...good, attributes: [attribute('v', 'x'.repeat(2000))] }
    const metric = {
      name: 'partial',
      gauge: { dataPoints: [...Array.from({ length: 12 }, () => bad), good, { asDouble: 1 }] },
    }
    const { status, body } = await service.post(METRICS, request(metric), JSON_TYPE)
    expect(status).toBe(200)
    expect(body.partialSuccess.rejectedDataPoints).toBe('13')
    expect(body.partialSuccess.errorMessage).toMatch(/has no timeUnixNano; labels.v has more than 1024/)
    expect(await rows('select value from partial')).toEqual([{ value: 4 }])
    const broken = sized(2, [sized(1, 'partial'), sized(5, [sized(1, [double(4, 1)])])])
    const answer = await sendProtobuf([sized(1, [sized(2, [broken])])])
    expect(Buffer.from(await answer.arrayBuffer()).toString()).toContain('has no timeUnixNano')
  })

  it('of one point are stored together or not at all, and refused points are counted', async () => {
    const histogram = (bounds: number) => ({
      timeUnixNano: TIME,
      count: bounds + 1,
      bucketCounts: Array.from({ length: bounds + 1 }, () => 1),
      explicitBounds: Array.from({ length: bounds }, (_, i) => i),
      attributes: [attribute('v', bounds > 2 ? 'x'.repeat(2000) : 'y')],
    })
    const { body } = await service.post(
      METRICS,
      request({ name: 'whole', histogram: { dataPoints: [histogram(2), histogram(5), histogram(6)] } }),
      JSON_TYPE,
    )
    expect(body.partialSuccess.rejectedDataPoints).toBe('2')
    expect(await rows('select count() as n from whole_bucket')).toEqual([{ n: 3 }])
    expect(await rows('select value from whole_count')).toEqual([{ value: 3 }])
  })

  it('without a value, and values that are no finite numbers, are no points (MQ-2)', async () => {
    const points = [
      { timeUnixNano: TIME, asDouble: 'NaN' },
      { timeUnixNano: TIME, asDouble: 1, flags: 1 },
      { timeUnixNano: TIME, asDouble: 2 },
    ]
    const { body } = await service.post(
      METRICS,
      request({ name: 'gaps', gauge: { dataPoints: points } }),
      JSON_TYPE,
    )
    expect(body).toEqual({})
    expect(await rows('select value from gaps')).toEqual([{ value: 2 }])
  })

  it.each([
    ['{"resourceMetrics": 5}'],
    ['[1'],
    ['null'],
    ['{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"sum":{"dataPoints":[{"timeUnixNano":"x"}]}}]}]}]}'],
  ])('are refused with 400 when the body is %s (ER-5)', async (body) => {
    const answer = await service.post(METRICS, body, JSON_TYPE)
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining('OTLP')])
  })

  it('are refused with 400 when the protobuf is cut off, and without a key with 401 (AU-3)', async () => {
    const answer = await sendProtobuf([Buffer.from([0x0a, 0x7f, 0x00])])
    expect(answer.status).toBe(400)
    const nobody = await fetch(`${service.url}/v1${METRICS}`, { method: 'POST', body: '{}' })
    expect([nobody.status, await nobody.json()]).toEqual([401, expect.objectContaining({ code: 16 })])
  })

  it('in protobuf are told every error as a Status in protobuf, as OTLP asks', async () => {
    const url = `${service.url}/v1${METRICS}`
    const post = (body: Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>>) =>
      fetch(url, { method: 'POST', headers: { 'content-type': 'application/x-protobuf', ...headers }, body })
    const key = { 'api-key': service.administratorKey }
    const cases = [
      [await post(Buffer.from([0x0a, 0x7f, 0x00]), key), 400, 3, 'OTLP'],
      [await post(Buffer.from([]), {}), 401, 16, 'api-key'],
      [await post(Buffer.from('no gzip'), { ...key, 'content-encoding': 'gzip' }), 400, 3, ''],
    ] as const
    for (const [answer, status, code, words] of cases) {
      expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/x-protobuf'])
      const bytes = Buffer.from(await answer.arrayBuffer())
      const decoded = decodeProtobuf({ 1: ['code', 'int32'], 2: ['message', 'string'] }, bytes)
      expect(decoded).toEqual({ code, message: expect.stringContaining(words) })
    }
  })
})
