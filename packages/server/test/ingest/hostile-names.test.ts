import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { userView } from '../../src/clickhouse/layout.ts'
import { cleanName } from '../../src/platform/clean-name.ts'
import { double, integer, sized } from '../otlp/encode-protobuf.ts'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService

beforeAll(async () => {
  service = await startTestService()
  await service.post('/projects', { owner: 'test', name: 'p' })
})
afterAll(() => service.stop())

/** Names that some layer below might take for more than a name; each is kept under its clean form (IN-5). */
const HOSTILE = [
  'select',
  'from',
  'null',
  'values',
  'system',
  '__proto__',
  'constructor',
  'toString',
  '0',
  '_',
  "'; drop table x; --",
  'a`b',
  'a"b',
  'a\\b',
  'a\u0000b\u0001',
  '${x}{{y}}{z:String}',
  '../../etc/passwd',
  '%00%2e%2e%2f',
  '\u202Efdp.exe',
  '💥 boom',
  '日本語 метрика',
  'e\u0301',
  'x'.repeat(512),
] as const

const time = '2024-01-01T00:00:00Z'
/** Several become the same clean name; a number tells them apart. */
const named = (prefix: string, name: string) =>
  `${prefix}${HOSTILE.findIndex((each) => each === name)}_${name}`.slice(0, 512)
const batch = (...records: readonly object[]) => service.post('/ingest/test/p/batch', { records })
const sql = async (statement: string) => {
  const { status, body } = await service.post('/analytics/test/p/sql/execute', {
    sqlQuery: { sql: statement },
  })
  return [status, body.result?.rows ?? body.message] as const
}
const quoted = (name: string) => `\`${userView(cleanName(name))}\``

describe('hostile names (IN-5)', () => {
  it.each(HOSTILE)('are names of metrics and labels and nothing more: %j', async (name) => {
    const metric = named('m', name)
    const clean = cleanName(metric)
    const value = `v ${name}`
    const sent = await batch({
      type: 'gauge',
      name: metric,
      value: 1,
      labels: { [name.slice(0, 128)]: value },
      time,
    })
    expect([sent.status, sent.body.message]).toEqual([200, undefined])
    const label = cleanName(name.slice(0, 128))
    expect(await sql(`select value, labels from ${quoted(clean)}`)).toEqual([
      200,
      [{ value: 1, labels: { [label]: value } }],
    ])
    const range = await service.post('/metrics/test/p/query_range', {
      timeRange: { start: `${Date.parse(time)}`, end: `${Date.parse(time) + 10_000}`, step: 10 },
      queries: [
        {
          query: metric,
          labelSelector: { [name.slice(0, 128)]: value },
          aggregate: { op: 'SUM', grouping: [name.slice(0, 128)] },
        },
      ],
    })
    expect([range.status, range.body.message, range.body.warnings]).toEqual([200, undefined, []])
    expect(range.body.results[0].matrix.samples).toMatchObject([
      { metric: { labels: { [label]: value } }, values: [{ value: 1 }, { value: 1 }] },
    ])
    const { body: known } = await service.get('/metrics?projectId=test/p')
    expect(known.metrics.map((each: { name: string }) => each.name)).toContain(clean)
  })

  it.each(HOSTILE)('are names of event logs, entities and their attributes: %j', async (name) => {
    const attribute = cleanName(name).slice(0, 200)
    for (const [type, fields] of [
      ['event', {}],
      ['upsert', { id: name }],
    ] as const) {
      const record = {
        type,
        name: named(type, name),
        attributes: { [attribute]: name },
        time,
        ...fields,
      }
      const sent = await batch(record)
      // An entity has columns of its own, and says so.
      if (type === 'upsert' && attribute.startsWith('__')) {
        expect([sent.status, sent.body.message]).toEqual([400, expect.stringContaining(attribute)])
        continue
      }
      expect([sent.status, sent.body.message]).toEqual([200, undefined])
      const clean = quoted(record.name)
      expect(await sql(`select \`${attribute}\` as kept from ${clean}`)).toEqual([200, [{ kept: name }]])
    }
    const { body } = await service.get('/analytics/test/p/sql/tables')
    expect(Object.keys(body.tables)).toContain(userView(cleanName(named('event', name))))
  })

  it.each(HOSTILE)('are channels and exports alike for senders and operators: %j', async (name) => {
    const created = await service.post('/webhook/channels/test/p', { name, url: 'http://127.0.0.1:9/' })
    const sent = await batch({
      type: 'export',
      name: name.replaceAll('\u0000', ''),
      channel: name,
      data: name,
      time,
    })
    expect([created.status, sent.status]).toContainEqual(created.status === 201 ? 200 : 400)
    if (created.status === 201) {
      const { status, body } = await service.get(`/webhook/channels/test/p/${encodeURIComponent(name)}`)
      expect([status, body.name, body.pendingMessages + body.failures >= 0]).toEqual([200, name, true])
    } else {
      expect([created.status, sent.status]).toEqual([400, 400])
      expect(sent.body.message).toContain('channel must have 1 to 512 characters, without slashes')
    }
  })

  it.each(['.', '..'])('are refused as channels where they would change an address: %j', async (name) => {
    const created = await service.post('/webhook/channels/test/p', { name, url: 'http://127.0.0.1:9/' })
    const sent = await batch({ type: 'export', name: 'x', channel: name, data: 1, time })
    expect([created.status, sent.status]).toEqual([400, 400])
  })

  it('come by remote write and OpenTelemetry as well', async () => {
    const name = '\'; drop `table` "x" --'
    const metric = [
      {
        name,
        gauge: {
          dataPoints: [
            {
              timeUnixNano: '1704067200000000000',
              asDouble: 1,
              attributes: [{ key: name, value: { stringValue: name } }],
            },
          ],
        },
      },
    ]
    const otlp = await service.post(
      '/otlp/test/p/v1/metrics',
      { resourceMetrics: [{ scopeMetrics: [{ metrics: metric }] }] },
      { 'content-type': 'application/json' },
    )
    expect([otlp.status, otlp.body]).toEqual([200, {}])
    const label = (key: string, value: string) => sized(1, [sized(1, key), sized(2, value)])
    const message = sized(1, [
      label('__name__', name),
      label('a`b', name),
      sized(2, [double(1, 2), integer(2, 1_704_067_201_000)]),
    ])
    const answer = await fetch(`${service.url}/api/v1/prometheus/test/p/write`, {
      method: 'POST',
      headers: { 'api-key': service.administratorKey, 'content-type': 'application/x-protobuf' },
      body: Buffer.concat([
        integer(1, message.length).subarray(1),
        Buffer.from([60 << 2, message.length - 1]),
        message,
      ]),
    })
    expect(answer.status).toBe(204)
    expect(await sql(`select value, labels from ${quoted(cleanName(name))} order by value`)).toEqual([
      200,
      [
        { value: 1, labels: { [cleanName(name)]: name } },
        { value: 2, labels: { a_b: name } },
      ],
    ])
  })
})

describe('what is too much (IN-5)', () => {
  const gauge = { type: 'gauge', name: 'g', value: 1, time }
  const event = { type: 'event', name: 'e', time }
  const labels = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`l${i}`, 'v'] as const))

  it.each([
    [{ ...gauge, name: '' }, 'name is required'],
    [{ ...gauge, name: undefined }, 'name is required'],
    [{ ...gauge, name: 7 }, 'name must be a string'],
    [{ ...gauge, name: 'x'.repeat(10_000) }, 'name has more than 512 characters'],
    [{ ...event, name: 'x'.repeat(10_000) }, 'name has more than 512 characters'],
    [{ ...gauge, labels: { chain: '1' } }, 'labels.chain is reserved'],
    [{ ...gauge, labels: labels(33) }, 'labels has 33 labels; at most 32 are allowed'],
    [{ ...gauge, labels: { l: 'v'.repeat(1025) } }, 'labels.l has more than 1024 characters'],
    [{ ...gauge, labels: { ['l'.repeat(10_000)]: 'v' } }, 'a label name of more than 128 characters'],
    [{ ...gauge, chain: 'c'.repeat(65) }, 'chain has more than 64 characters'],
    [{ ...event, attributes: { ['a'.repeat(10_000)]: 1 } }, 'attribute name of more than 256 characters'],
    [{ ...event, attributes: { '': 1 } }, 'an attribute without a name'],
    [{ ...event, attributes: { timestamp: 1 } }, 'attributes.timestamp is'],
    [{ ...event, message: 'm'.repeat(65_537) }, 'message has more than 65536 characters'],
    [{ ...event, type: 'upsert' }, 'id is required'],
    [{ ...event, type: 'upsert', id: 'i'.repeat(1025) }, 'id has more than 1024 characters'],
    [{ ...event, type: 'export', channel: '', data: 1 }, 'channel is required'],
    [
      { ...event, type: 'export', channel: 'c'.repeat(10_000), data: 1 },
      'channel has more than 512 characters',
    ],
    [{ ...event, type: 'export', channel: 'c', data: 'd'.repeat(5_300_000) }, 'bytes; at most'],
  ])('is refused with a sentence of its own: %#', async (record, sentence) => {
    const { status, body } = await batch(record)
    expect([status, body.message]).toEqual([400, expect.stringContaining(sentence)])
    expect(body.details[0]).toMatchObject({ index: 0, field: expect.any(String) })
  })

  it('is refused as a whole: more than 100 000 records, and bodies beyond the limit', async () => {
    const records = Array.from({ length: 100_001 }, () => gauge)
    const { status, body } = await service.post('/ingest/test/p/batch', { records })
    expect([status, body.message]).toEqual([400, expect.stringContaining('at most 100000')])
    const huge = await service.post('/ingest/test/p/batch', `"${'x'.repeat(70_000_000)}"`)
    expect([huge.status, huge.body.message]).toEqual([
      413,
      expect.stringContaining('MILLRACE_BODY_LIMIT_BYTES'),
    ])
  })
})
