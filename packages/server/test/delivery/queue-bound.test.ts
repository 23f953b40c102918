import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService({ webhookQueueBytes: 1024 * 1024 })
  await service.post('/projects', { owner: 'test', name: 'bound' })
})
afterAll(() => service.stop())

/** One export of so many bytes, and a fact beside it. */
const ingest = (block: number, bytes: number) => {
  const place = { chain: '1', blockNumber: block, timestampMicros: block }
  return service.post('/ingest/test/bound/batch', {
    records: [
      { type: 'export', name: 'e', channel: 'away', data: 'x'.repeat(bytes - 2), ...place },
      { type: 'counter', name: 'c', value: 1, ...place },
    ],
  })
}

it('refuses a batch with 429 when too much waits for its channel, and stores nothing of it (IN-7)', async () => {
  expect((await ingest(1, 200_000)).status).toBe(200)
  const refused = await ingest(2, 100_000)
  expect([refused.status, refused.headers.get('retry-after'), refused.body.message]).toEqual([
    429,
    '60',
    expect.stringMatching(
      /^export: 200\d{3} bytes wait .* in channel "away", at most 262144 may; .*MILLRACE_WEBHOOK_QUEUE_BYTES/,
    ),
  ])
  const { body } = await service.post('/analytics/test/bound/sql/execute', {
    sqlQuery: { sql: 'select block_number from c' },
  })
  expect(body.result.rows).toEqual([{ block_number: 1 }])
  expect((await ingest(3, 10_000)).status).toBe(200)
})
