import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

/** What the public exporters of OpenTelemetry for Node and Prometheus 2 sent, written by bench/senders/record.ts. */
const RECORDED = JSON.parse(readFileSync(join(import.meta.dirname, 'recorded.json'), 'utf8')) as readonly {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}[]

let service: TestService

beforeAll(async () => {
  service = await startTestService()
  await service.post('/projects', { owner: 'test', name: 'p' })
})
afterAll(() => service.stop())

const rows = async (sql: string) => {
  const { body } = await service.post('/analytics/test/p/sql/execute', { sqlQuery: { sql } })
  return body.result?.rows ?? body
}

async function replay(path: string, under: string): Promise<readonly (readonly [number, string])[]> {
  const answers: (readonly [number, string])[] = []
  for (const { path: sent, headers, body } of RECORDED) {
    if (sent !== path) continue
    const answer = await fetch(`${service.url}/api/v1${under}${path}`, {
      method: 'POST',
      headers: { ...headers, 'api-key': service.administratorKey },
      body: Buffer.from(body, 'base64'),
    })
    answers.push([answer.status, await answer.text()])
  }
  return answers
}

describe('recorded requests of real senders', () => {
  it('of OpenTelemetry, in both forms and temporalities, are stored as the instruments were used', async () => {
    const answers = await replay('/v1/metrics', '/otlp/test/p')
    expect(new Set(answers.map((answer) => answer.join(' ')))).toEqual(new Set(['200 ', '200 {}']))
    for (const form of ['protobuf', 'json']) {
      for (const temporality of ['delta', 'cumulative']) {
        const of = (instrument: string) => `${form}_${temporality}_${instrument}`
        const total = temporality === 'delta' ? 'sum(value)' : 'argMax(value, timestamp)'
        expect(
          await rows(
            `select labels['method'] as method, ${total} as n from ${of('requests')} group by method order by method`,
          ),
        ).toEqual([
          { method: 'GET', n: 7 },
          { method: 'POST', n: 3 },
        ])
        expect(await rows(`select argMax(value, timestamp) as n from ${of('queue')}`)).toEqual([{ n: -3 }])
        expect(await rows(`select ${total} as n from ${of('latency_sum')}`)).toEqual([{ n: 8088 }])
        expect(
          await rows(
            `select labels['le'] as le, ${total} as n from ${of('latency_bucket')} where le in ('5', '10', '100', '+Inf') group by le order by n`,
          ),
        ).toEqual([
          { le: '5', n: 1 },
          { le: '10', n: 2 },
          { le: '100', n: 3 },
          { le: '+Inf', n: 4 },
        ])
        expect(await rows(`select max(value) as n from ${of('exponential_count')}`)).toEqual([{ n: 3 }])
        expect(
          await rows(
            `select distinct labels['city'] as city, labels['service_name'] as service, value from ${of('temperature')}`,
          ),
        ).toEqual([{ city: 'Zürich "Ost"', service: 'shop', value: -12.5 }])
      }
    }
  })

  it('of OpenTelemetry are events where they are log records (IN-6)', async () => {
    for (const [status] of await replay('/v1/logs', '/otlp/test/p')) expect(status).toBe(200)
    for (const form of ['protobuf', 'json']) {
      expect(
        await rows(
          `select severity, message, amount, tags, nested, service_name as service from ${form}_order order by message`,
        ),
      ).toEqual(
        [0, 1, 2].map((i) => ({
          severity: 'WARN',
          message: `order ${i}`,
          amount: i * 1.5,
          tags: '["a","b"]',
          nested: '{"deep":{"yes":true}}',
          service: 'shop',
        })),
      )
    }
  })

  it('of Prometheus are stored sample by sample, whole numbers beyond 2^53 and texts of any kind among them', async () => {
    const statuses = (await replay('/write', '/prometheus/test/p')).map(([status]) => status)
    expect(statuses).toEqual([204, 204, 204])
    expect(
      await rows(
        `select labels['path'] as path, labels['method'] as method, labels['job'] as job, count() as n,
           max(value) - min(value) as moved from sample_requests_total group by all order by method`,
      ),
    ).toEqual([
      { path: '/a "quoted" \\ path', method: 'GET', job: 'sample', n: 3, moved: 6 },
      { path: '/日本語', method: 'POST', job: 'sample', n: 3, moved: 4 },
    ])
    expect(
      await rows('select countIf(value between -1.5e-299 and -1.5e-300) as n from sample_temperature'),
    ).toEqual([{ n: 3 }])
    expect(await rows("select max(value) as n from load where labels['unit'] = 'u0'")).toEqual([{ n: 0.1 }])
  })
})
