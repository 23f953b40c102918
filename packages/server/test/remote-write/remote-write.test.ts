import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { double, integer, sized } from '../otlp/encode-protobuf.ts'
import { startTestService, type TestService } from '../support/service.ts'

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
const series = (
  labels: Readonly<Record<string, string>>,
  ...samples: readonly (readonly [number, number])[]
) =>
  sized(1, [
    ...Object.entries(labels).map(([name, value]) => sized(1, [sized(1, name), sized(2, value)])),
    ...samples.map(([value, timestampMs]) => sized(2, [double(1, value), integer(2, timestampMs)])),
  ])

/** A snappy block of literals only, as any compressor may write. */
function block(message: Uint8Array): Buffer {
  const parts: Uint8Array[] = [integer(1, message.length).subarray(1)]
  for (let at = 0; at < message.length; at += 60) {
    const literal = message.subarray(at, at + 60)
    parts.push(Buffer.from([(literal.length - 1) << 2]), literal)
  }
  return Buffer.concat(parts)
}

const send = (body: Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${service.url}/api/v1/prometheus/test/p/write`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.administratorKey}`,
      'content-type': 'application/x-protobuf',
      'content-encoding': 'snappy',
      'x-prometheus-remote-write-version': '0.1.0',
      ...headers,
    },
    body: Uint8Array.from(body),
  })

describe('Prometheus remote write', () => {
  it('stores samples as gauges; markers of the end of a series are no points (MQ-2)', async () => {
    const message = Buffer.concat([
      series(
        { __name__: 'node:cpu', instance: 'a:9100', job: 'node' },
        [1.5, 1_700_000_000_001],
        [2, 1_700_000_015_001],
      ),
      series(
        { __name__: 'node:cpu', instance: 'b:9100', chain: '10' },
        [3, 1_700_000_000_002],
        [Number.NaN, 1_700_000_015_002],
      ),
    ])
    const answer = await send(block(message))
    expect([answer.status, await answer.text()]).toEqual([204, ''])
    expect(
      await rows(
        "select timestamp, value, labels['instance'] as instance, chain from node_cpu order by timestamp",
      ),
    ).toEqual([
      { timestamp: '2023-11-14T22:13:20.001000Z', value: 1.5, instance: 'a:9100', chain: '' },
      { timestamp: '2023-11-14T22:13:20.002000Z', value: 3, instance: 'b:9100', chain: '10' },
      { timestamp: '2023-11-14T22:13:35.001000Z', value: 2, instance: 'a:9100', chain: '' },
    ])
  })

  it('stores what is said of families of metrics, also when it is said again (MQ-10)', async () => {
    const family = (type: number, name: string, help: string, unit = '') =>
      sized(3, [integer(1, type), sized(2, name), sized(4, help), sized(5, unit)])
    const at = [1, 1_700_000_000_000] as const
    await send(
      block(
        Buffer.concat(
          ['took_bucket', 'took_sum', 'hits_total', 'heat'].map((name) => series({ __name__: name }, at)),
        ),
      ),
    )
    const listed = async () => {
      const { body } = await service.get('/metrics?projectId=test/p')
      const metrics = body.metrics as { name: string; metadata: { unit: string; help: string } }[]
      return metrics.flatMap(({ name, metadata: { unit, help } }) =>
        unit + help === '' ? [] : [[name, unit, help]],
      )
    }
    const said = (heat: string) =>
      block(
        Buffer.concat([
          family(3, 'took', 'Time', 'seconds'),
          family(1, 'hits', 'Hits'),
          family(2, 'heat', heat, 'celsius'),
        ]),
      )
    for (const heat of ['Heat', 'Warmth', 'Heat']) {
      expect((await send(said(heat))).status).toBe(204)
      expect(await listed()).toEqual([
        ['heat', 'celsius', heat],
        ['hits_total', '', 'Hits'],
        ['took_bucket', '', 'Time'],
        ['took_sum', 'seconds', 'Time'],
      ])
    }
  })

  it('stores a request that is sent again once (IN-2)', async () => {
    const body = block(series({ __name__: 'again' }, [1, 1_700_000_000_000]))
    for (let i = 0; i < 2; i++) expect((await send(body)).status).toBe(204)
    expect(await rows('select count() as n from again')).toEqual([{ n: 1 }])
  })

  it('stores the samples that are without fault and answers 400 for the others', async () => {
    const message = Buffer.concat([
      series({ __name__: 'mixed', v: 'x'.repeat(2000) }, [1, 1_700_000_000_000]),
      series({ __name__: 'mixed', v: 'short' }, [2, 1_700_000_000_000]),
    ])
    const answer = await send(block(message))
    expect([answer.status, ((await answer.json()) as { message: string }).message]).toEqual([
      400,
      expect.stringContaining('1 were refused, the rest is stored: labels.v has more than 1024'),
    ])
    expect(await rows("select value, labels['v'] as v from mixed")).toEqual([{ value: 2, v: 'short' }])
  })

  it('refuses what is no snappy, no protobuf, or version 2.0 (ER-2)', async () => {
    expect((await send(Buffer.from('nonsense'))).status).toBe(400)
    expect((await send(block(Buffer.from([0x0a, 0x7f])))).status).toBe(400)
    const two = 'application/x-protobuf;proto=io.prometheus.write.v2.Request'
    expect((await send(block(Buffer.alloc(0)), { 'content-type': two })).status).toBe(501)
  })
})
