import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

const START = Date.UTC(2026, 4, 1)
const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const PROJECT = 'memory/project'

interface Sent {
  readonly atMs: number
  readonly value: number
  readonly block?: number
  readonly pool?: string
  readonly chain?: string
}

/** Everything here is asked twice with the result cache off: the second time buckets may come from memory. */
describe('buckets in memory (CA-6)', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
    await service.post('/projects', { owner: 'memory', name: 'project' })
  })
  afterAll(() => service.stop())

  async function send(name: string, type: 'gauge' | 'counter', samples: readonly Sent[]): Promise<void> {
    const lines = samples.map(({ atMs, value, block = 1, pool = 'a', chain = '1' }) =>
      JSON.stringify({
        type,
        name,
        value,
        labels: { pool },
        chain,
        blockNumber: block,
        timestampMicros: atMs * 1000,
      }),
    )
    const { status, body } = await service.post(`/ingest/${PROJECT}/batch`, lines.join('\n'), {
      'content-type': 'application/x-ndjson',
    })
    expect({ status, body }).toMatchObject({ status: 200 })
  }

  async function ask(query: object, step: number, hours: number, from = START): Promise<unknown> {
    const request = {
      queries: [{ id: 'a', ...query }],
      timeRange: { start: from, end: from + hours * HOUR, step },
      cachePolicy: { noCache: true },
      explain: true,
    }
    const { body } = await service.post(`/metrics/${PROJECT}/query_range`, request)
    const [result] = body.results
    expect(result.error).toBeUndefined()
    return Object.fromEntries(
      result.matrix.samples.map((each: Sample) => [
        each.metric.labels['pool'],
        each.values.map(({ value }) => value),
      ]),
    )
  }

  interface Sample {
    readonly metric: { readonly labels: Record<string, string> }
    readonly values: readonly { readonly value: number }[]
  }

  const sum = (name: string, value: number, unit: string) => ({
    query: name,
    functions: [{ name: 'rollup_sum', arguments: [{ durationValue: { value, unit } }] }],
  })

  it('follow new samples at the open end', async () => {
    await send('open', 'gauge', [{ atMs: START + MINUTE, value: 1 }])
    expect(await ask(sum('open', 1, 'h'), 3600, 3)).toEqual({ a: [1] })
    await send('open', 'gauge', [{ atMs: START + 2 * MINUTE, value: 2 }])
    expect(await ask(sum('open', 1, 'h'), 3600, 3)).toEqual({ a: [3] })
    await send('open', 'gauge', [{ atMs: START + 2 * HOUR, value: 5 }])
    expect(await ask(sum('open', 1, 'h'), 3600, 3)).toEqual({ a: [3, 5] })
    expect(await ask(sum('open', 5, 'm'), 300, 3)).toEqual({ a: [3, 5] })
    await send('open', 'gauge', [{ atMs: START + 2 * HOUR + 4 * MINUTE, value: 7 }])
    expect(await ask(sum('open', 5, 'm'), 300, 3)).toEqual({ a: [3, 12] })
  })

  it('follow late samples, and series that are new', async () => {
    await send('late', 'gauge', [
      { atMs: START + HOUR, value: 1 },
      { atMs: START + 3 * DAY, value: 2 },
    ])
    expect(await ask(sum('late', 1, 'd'), 86_400, 96)).toEqual({ a: [1, 2] })
    expect(await ask(sum('late', 1, 'd'), 86_400, 96)).toEqual({ a: [1, 2] })
    await send('late', 'gauge', [{ atMs: START + 2 * HOUR, value: 10 }])
    expect(await ask(sum('late', 1, 'd'), 86_400, 96)).toEqual({ a: [11, 2] })
    await send('late', 'gauge', [{ atMs: START + DAY, value: 100, pool: 'b' }])
    expect(await ask(sum('late', 1, 'd'), 86_400, 96)).toEqual({ a: [11, 2], b: [100] })
  })

  it('follow a rollback (IN-3), values carried from before the range included', async () => {
    const carried = { query: 'taken' }
    await send('taken', 'counter', [
      { atMs: START + HOUR, value: 1, block: 10 },
      { atMs: START + 2 * HOUR, value: 2, block: 20 },
      { atMs: START + DAY + HOUR, value: 4, block: 30 },
    ])
    const later = START + 2 * DAY
    expect(await ask(carried, 3600, 1, later)).toEqual({ a: [7, 7] })
    expect(await ask(carried, 3600, 4)).toEqual({ a: [1, 3, 3, 3] })
    await service.post(`/ingest/${PROJECT}/rollback`, { chain: '1', blockNumber: 15 })
    expect(await ask(carried, 3600, 1, later)).toEqual({ a: [1, 1] })
    expect(await ask(carried, 3600, 4)).toEqual({ a: [1, 1, 1, 1] })
    await send('taken', 'counter', [{ atMs: START + 2 * HOUR, value: 8, block: 20 }])
    expect(await ask(carried, 3600, 4)).toEqual({ a: [1, 9, 9, 9] })
    expect(await ask(carried, 60, 1, START + 2 * HOUR - 30 * MINUTE)).toEqual({
      a: [...Array.from({ length: 30 }, () => 1), ...Array.from({ length: 31 }, () => 9)],
    })
  })

  it('follow a chain that begins later and comes from behind', async () => {
    const total = (unit: string) => ({ ...sum('chains', 1, unit), aggregate: { op: 'SUM' } })
    const hours = () => ask(total('h'), 3600, 96)
    const minutes = () => ask(total('m'), 60, 2, START + 3 * DAY)
    await send(
      'chains',
      'gauge',
      [0, 1, 2, 3, 4].map((day) => ({ atMs: START + day * DAY + MINUTE, value: day })),
    )
    expect(await hours()).toEqual({ undefined: [0, 1, 2, 3, 4] })
    expect(await minutes()).toEqual({ undefined: [3] })
    // Late, as the first of a chain is; what follows is new data at that chain's open end.
    await send('chains', 'gauge', [{ atMs: START - DAY, value: 0, chain: '2' }])
    await send('chains', 'gauge', [{ atMs: START + 3 * DAY + HOUR, value: 30, chain: '2' }])
    await send('chains', 'gauge', [{ atMs: START + 5 * DAY, value: 0, chain: '2' }])
    expect(await hours()).toEqual({ undefined: [0, 1, 2, 3, 30, 4] })
    expect(await minutes()).toEqual({ undefined: [3, 30] })
  })

  it('of a few series of many are kept by themselves, and follow new series, late samples and rollbacks', async () => {
    const others = Array.from({ length: 600 }, (_, index) => ({ atMs: START, value: 0, pool: `o${index}` }))
    await send('many', 'gauge', [...others, { atMs: START + MINUTE, value: 1, pool: 'x1' }])
    const few = { query: 'many', labelSelector: { pool: '=~x.*' } }
    const minutes = { from: START + DAY, step: 60, hours: 16 }
    const askFew = async () => {
      const answer = (await ask(few, minutes.step, minutes.hours, minutes.from)) as Record<string, number[]>
      return Object.fromEntries(Object.entries(answer).map(([pool, values]) => [pool, values.at(-1)]))
    }
    expect(await askFew()).toEqual({ x1: 1 })
    expect(await askFew()).toEqual({ x1: 1 })
    await send('many', 'gauge', [{ atMs: minutes.from + HOUR, value: 2, pool: 'x2', block: 20 }])
    expect(await askFew()).toEqual({ x1: 1, x2: 2 })
    // Months before all others.
    await send('many', 'gauge', [{ atMs: START - 100 * DAY, value: 3, pool: 'x3' }])
    expect(await askFew()).toEqual({ x1: 1, x2: 2, x3: 3 })
    await send('many', 'gauge', [{ atMs: START + HOUR, value: 4, pool: 'x3', block: 30 }])
    expect(await askFew()).toEqual({ x1: 1, x2: 2, x3: 4 })
    await service.post(`/ingest/${PROJECT}/rollback`, { chain: '1', blockNumber: 15 })
    expect(await askFew()).toEqual({ x1: 1, x3: 3 })
  })

  it('are those of half days where a year of hours would be too many', async () => {
    const pools = Array.from({ length: 1000 }, (_, index) => `p${index}`)
    const at = (days: number) => START + days * DAY
    await send(
      'year',
      'counter',
      pools.flatMap((pool) => [
        { atMs: at(-10), value: 1, pool },
        { atMs: at(0), value: 2, pool },
        { atMs: at(100.5), value: 4, pool },
        { atMs: at(101) + HOUR, value: 8, pool },
      ]),
    )
    const total = { query: 'year', aggregate: { op: 'MAX' } }
    const halfDays = async () => {
      const { undefined: values = [] } = (await ask(total, 43_200, 24 * 365)) as Record<string, number[]>
      return [0, 1, 200, 201, 202, 203, 730].map((point) => values[point])
    }
    expect(await halfDays()).toEqual([3, 3, 3, 7, 7, 15, 15])
    expect(await halfDays()).toEqual([3, 3, 3, 7, 7, 15, 15])
    // Late, within a block of days that is in memory.
    await send('year', 'counter', [{ atMs: at(99), value: 100, pool: 'p7' }])
    expect(await halfDays()).toEqual([3, 3, 103, 107, 107, 115, 115])
  })
})
