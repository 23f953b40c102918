import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'
import { fixed, integer, sized } from './encode-protobuf.ts'

let service: TestService

beforeAll(async () => {
  service = await startTestService()
  await service.post('/projects', { owner: 'test', name: 'p' })
})
afterAll(() => service.stop())

const LOGS = '/otlp/test/p/v1/logs'
const rows = async (sql: string) => {
  const { body } = await service.post('/analytics/test/p/sql/execute', { sqlQuery: { sql } })
  return body.result?.rows ?? body
}

describe('log records of OpenTelemetry', () => {
  it('become events with time, severity, message, trace and typed attributes (IN-6)', async () => {
    const record = {
      timeUnixNano: '1700000000000001000',
      severityNumber: 17,
      body: { stringValue: 'it failed' },
      traceId: '5b8efff798038103d269b633813fc60c',
      spanId: 'eee19b7ec3c1b174',
      attributes: [
        { key: 'event.name', value: { stringValue: 'payment.failed' } },
        { key: 'amount', value: { intValue: '9223372036854775807' } },
        { key: 'ratio', value: { doubleValue: 0.5 } },
        { key: 'retried', value: { boolValue: true } },
        { key: 'tags', value: { arrayValue: { values: [{ stringValue: 'a' }, { intValue: 2 }] } } },
        { key: 'chain', value: { stringValue: '1' } },
        { key: 'timestamp', value: { stringValue: 'mine' } },
      ],
    }
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] }
    const { status, body } = await service.post(
      LOGS,
      { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [record] }] }] },
      { 'content-type': 'application/json' },
    )
    expect([status, body]).toEqual([200, {}])
    expect(await rows('select * from payment_failed')).toEqual([
      expect.objectContaining({
        timestamp: '2023-11-14T22:13:20.000001Z',
        severity: 'ERROR',
        message: 'it failed',
        chain: '1',
        service_name: 'shop',
        amount: '9223372036854775807',
        ratio: 0.5,
        retried: true,
        attribute_timestamp: 'mine',
        trace_id: '5b8efff798038103d269b633813fc60c',
        span_id: 'eee19b7ec3c1b174',
      }),
    ])
    expect(await rows(`select tags from payment_failed`)).toEqual([{ tags: '["a",2]' }])
  })

  it('may hold whole and broken numbers in one attribute, as senders without integers write them', async () => {
    const values = [{ intValue: '0' }, { doubleValue: 1.5 }, { intValue: 3 }]
    const logRecords = values.map((value, index) => ({
      timeUnixNano: String(1_700_000_000_000_000_000n + BigInt(index)),
      eventName: 'order',
      attributes: [{ key: 'amount', value }],
    }))
    const { status, body } = await service.post(
      LOGS,
      { resourceLogs: [{ scopeLogs: [{ logRecords }] }] },
      { 'content-type': 'application/json' },
    )
    expect([status, body]).toEqual([200, {}])
    expect(await rows('select amount from `order` order by amount')).toEqual([
      { amount: 0 },
      { amount: 1.5 },
      { amount: 3 },
    ])
  })

  it('are read from compressed protobuf; without an event name they are the log "logs"', async () => {
    const record = [
      fixed(11, 1_700_000_000_000_000_000n),
      integer(2, 9),
      sized(5, [sized(6, [sized(1, [sized(1, 'k'), sized(2, [sized(1, 'v')])])])]),
      sized(9, Buffer.from('5b8efff798038103d269b633813fc60c', 'hex')),
    ]
    const answer = await fetch(`${service.url}/v1${LOGS}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.administratorKey}`,
        'content-type': 'application/x-protobuf',
        'content-encoding': 'gzip',
      },
      body: gzipSync(sized(1, [sized(2, [sized(2, record)])])),
    })
    expect(answer.status).toBe(200)
    expect(await rows('select timestamp, severity, body, trace_id from logs')).toEqual([
      {
        timestamp: '2023-11-14T22:13:20.000000Z',
        severity: 'INFO',
        body: '{"k":"v"}',
        trace_id: '5b8efff798038103d269b633813fc60c',
      },
    ])
  })
})
