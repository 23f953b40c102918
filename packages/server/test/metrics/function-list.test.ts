import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FUNCTIONS } from '../../src/metrics/functions.ts'
import { startTestService, type TestService } from '../support/service.ts'

interface Listed {
  readonly name: string
  readonly arguments: readonly {
    readonly type: 'duration' | 'number' | 'integer'
    readonly minimum?: number
  }[]
}

let service: TestService
beforeAll(async () => {
  service = await startTestService()
  await service.post('/projects', { owner: 'acme', name: 'dex' })
})
afterAll(() => service.stop())

describe('the list of functions', () => {
  it('names each function of the metrics API, without a key (FN-7)', async () => {
    const answer = await fetch(`${service.url}/api/v1/metrics/functions`)
    const { functions } = (await answer.json()) as { functions: readonly Listed[] }
    expect(functions.map(({ name }) => name)).toEqual(Object.keys(FUNCTIONS))
  })

  it('says of each what it takes, so that a call built from it is accepted (FN-7)', async () => {
    const { functions } = (await service.get('/metrics/functions')).body as { functions: readonly Listed[] }
    const values = {
      duration: { durationValue: { value: 1, unit: 'd' } },
      number: { doubleValue: 0.5 },
      integer: { intValue: 1 },
    }
    const { status, body } = await service.post('/metrics/acme/dex/query_range', {
      timeRange: { start: 'now-1d', end: 'now', step: 3600 },
      queries: functions.map(({ name, arguments: takes }, index) => ({
        query: 'price',
        id: `q${index}`,
        functions: [{ name, arguments: takes.map(({ type }) => values[type]) }],
      })),
    })
    expect(status).toBe(200)
    const refused = body.results.filter(({ error }: { error?: string }) =>
      /takes|unknown function/.test(error ?? ''),
    )
    expect(refused).toEqual([])
  })
})
