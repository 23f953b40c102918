import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

const TIME_MICROS = 1.7e15
const BATCHES = 30
const LARGE_RECORDS = 3000

let service: TestService
beforeAll(async () => {
  service = await startTestService()
  await service.post('/projects', { owner: 'o', name: 'p' })
})
afterAll(() => service.stop())

const records = (name: string, count: number, micros: number) =>
  Array.from({ length: count }, (_, blockNumber) => ({
    type: 'counter',
    name,
    value: 1,
    chain: '1',
    blockNumber,
    timestampMicros: micros,
  }))

async function send(name: string, count: number, micros: number): Promise<void> {
  const { status, body } = await service.post('/ingest/o/p/batch', { records: records(name, count, micros) })
  expect({ status, body }).toMatchObject({ status: 200, body: { accepted: count } })
}

const ASKS: readonly (() => Promise<unknown>)[] = [
  async () => {
    const { body } = await service.post('/metrics/o/p/query', {
      queries: [{ query: 'small' }],
      cachePolicy: { noCache: true },
    })
    return body.results[0].sample[0].values[0].value
  },
  async () => {
    const { body } = await service.post('/analytics/o/p/sql/execute', {
      sqlQuery: { sql: 'select count() as n from small' },
      cachePolicy: { noCache: true },
    })
    return body.result.rows[0].n
  },
  async () => {
    const { body } = await service.post('/analytics/o/p/sql/execute?format=csv', {
      sqlQuery: { sql: 'select count() as n from small' },
    })
    return body.trim().split('\r\n')[1]
  },
]

it('shows an accepted batch in every answer that is computed afterwards, while large batches are stored (IN-2)', async () => {
  await send('small', 1, TIME_MICROS)
  await send('large', 1, TIME_MICROS)
  const end = new AbortController()
  const large = (async () => {
    while (!end.signal.aborted) await send('large', LARGE_RECORDS, TIME_MICROS)
  })()
  try {
    for (let n = 2; n <= BATCHES; n++) {
      await send('small', 1, TIME_MICROS + n)
      expect(Number(await ASKS[n % ASKS.length]?.())).toBe(n)
    }
  } finally {
    end.abort()
    await large
  }
})
