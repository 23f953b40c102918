import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_JSON_BYTES } from '../../src/platform/json-limit.ts'
import { startTestService, type TestService } from '../support/service.ts'

const RECORD = JSON.stringify({ type: 'gauge', name: 'g', value: 1, timestampMicros: 1_700_000_000_000_000 })

describe('a body of JSON', () => {
  let service: TestService

  beforeAll(async () => {
    service = await startTestService()
    await service.post('/projects', { owner: 'test', name: 'p' })
  })
  afterAll(() => service.stop())

  async function send(path: string, text: string, type: string) {
    const answer = await fetch(`${service.url}/api/v1${path}`, {
      method: 'POST',
      headers: { 'api-key': service.administratorKey, 'content-type': type },
      body: text,
    })
    return { status: answer.status, body: (await answer.json()) as { readonly message?: string } }
  }

  it.each([
    ['/ingest/test/p/batch', `{"records": [${RECORD}]}`, 'NDJSON'],
    ['/otlp/test/p/v1/metrics', '{"resourceMetrics": []}', 'protobuf'],
    [
      '/metrics/test/p/query_range',
      '{"queries": [{"query": "g"}], "timeRange": {"start": "0", "end": "1"}}',
      '',
    ],
  ])('to %s may have 8 MiB, and one byte more is 413 (ER-5)', async (path, text, instead) => {
    const whole = await send(path, text.padEnd(MAX_JSON_BYTES), 'application/json')
    expect([whole.status, whole.body.message]).toEqual([200, undefined])
    const larger = await send(path, text.padEnd(MAX_JSON_BYTES + 1), 'application/json')
    expect(larger.status).toBe(413)
    expect(larger.body.message).toContain(`8388609 bytes of JSON; at most 8388608 are allowed`)
    expect(larger.body.message).toContain(instead)
  })

  it('does not bind NDJSON (ER-5)', async () => {
    const { status } = await send(
      '/ingest/test/p/batch',
      RECORD.padEnd(MAX_JSON_BYTES + 1),
      'application/x-ndjson',
    )
    expect(status).toBe(200)
  })
})
