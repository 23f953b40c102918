import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'

const START_MS = Date.UTC(2026, 5, 1)
const HOUR_MS = 3_600_000
const HOURS = 48
const PER_HOUR = 4

describe('the answer to a metrics query tells', () => {
  let service: TestService

  beforeAll(async () => {
    service = await startTestService()
    await service.post('/projects', { owner: 'demo', name: 'explain' })
    const records = ['A', 'B', 'C'].flatMap((token) =>
      Array.from({ length: HOURS * PER_HOUR }, (_, index) => ({
        type: 'gauge',
        name: 'price',
        value: index % 7,
        labels: { token },
        chain: '1',
        blockNumber: index,
        timestampMicros: (START_MS + (index / PER_HOUR) * HOUR_MS + 60_000) * 1000,
      })),
    )
    const { status } = await service.post('/ingest/demo/explain/batch', { records })
    expect(status).toBe(200)
  })
  afterAll(() => service.stop())

  const timeRange = { start: START_MS, end: START_MS + (HOURS - 1) * HOUR_MS, step: 3600 }
  const call = (name: string, value: number, unit: string) => ({
    name,
    arguments: [{ durationValue: { value, unit } }],
  })
  function ask(query: object, more: object = {}, path = 'metrics/demo/explain/query_range') {
    const queries = [{ query: 'price', id: 'a', ...query }]
    return service.post(`/${path}`, { timeRange, queries, ...more })
  }

  it('with `explain` its plan, the samples read and estimated, the rollup and the time of each stage', async () => {
    const aggregate = { op: 'SUM', grouping: ['chain'] }
    const labelSelector = { token: '!=C' }
    const functions = [call('rollup_max', 1, 'h'), { name: 'abs' }]
    const { body } = await ask({ functions, aggregate, labelSelector }, { explain: true })
    const [explained] = body.explain.queries
    expect(explained).toMatchObject({
      field: 'queries[0]',
      id: 'a',
      name: 'price',
      plan: {
        selector: ['token!="C"'],
        samples: 'rollup_max(1h)',
        afterwards: ['abs()', 'SUM by (chain)'],
        from: '2026-06-01T00:00:00.000Z',
        to: '2026-06-03T00:00:00.000Z',
        cells: HOURS,
        statistics: { gauge: ['count', 'max'] },
      },
      series: { known: 3, matched: 2, returned: 1 },
      samples: { read: 0, inRollups: 2 * HOURS * PER_HOUR, rollups: ['1h'] },
    })
    expect(explained.samples.estimatedRows).toBeGreaterThan(0)
    for (const stages of [explained.stagesMs, body.explain.stagesMs]) {
      for (const stage of ['plan', 'execute', 'evaluate']) expect(stages[stage]).toBeGreaterThanOrEqual(0)
    }
    expect(body.explain.totalMs).toBeGreaterThanOrEqual(explained.stagesMs.execute)
  })

  it('with `explain` which samples it read where rollups do not suffice', async () => {
    const functions = [call('quantile_over_time', 1, 'h')]
    functions[0]?.arguments.unshift({ doubleValue: 0.5 } as never)
    const { body } = await ask({ functions }, { explain: true })
    const samples = 3 * (HOURS - 1) * PER_HOUR
    expect(body.explain.queries[0]).toMatchObject({
      plan: { samples: 'quantile_over_time(0.5, 1h)', statistics: { gauge: ['samples'] } },
      samples: { read: samples, inRollups: 0, rollups: [] },
    })
    expect(body.explain.queries[0].samples.estimatedRows).toBeGreaterThanOrEqual(samples)
  })

  it('nothing of it unasked, and explains what it computes, not what was kept (CA-4)', async () => {
    await ask({})
    expect((await ask({})).body).not.toHaveProperty('explain')
    expect((await ask({})).body.results[0].computeStats.isCached).toBe(true)
    const { body, headers } = await ask({}, { explain: true })
    expect(body.results[0].computeStats.isCached).toBe(false)
    expect(body.explain.queries).toHaveLength(1)
    expect(headers.get('cache-control')).toBe('no-store')
  })

  it('in `Server-Timing` where it came from and how long it took', async () => {
    const query = { alias: 'timed' }
    const stages = ['plan', 'execute', 'evaluate', 'formulas', 'respond', 'total']
    const all = stages.map((stage) => `${stage};dur=[\\d.]+`).join(', ')
    const computed = await ask(query)
    expect(computed.headers.get('server-timing')).toMatch(new RegExp(`^cache;desc="computed", ${all}$`))
    const kept = await ask(query)
    expect(kept.headers.get('server-timing')).toMatch(/^cache;desc="memory", total;dur=[\d.]+$/)
    const { headers } = await ask(query, { time: START_MS }, 'metrics/demo/explain/query')
    expect(headers.get('server-timing')).toMatch(/total;dur/)
  })

  it('in `warnings` of members that it does not know and that look like one it does, and nobody else of them', async () => {
    const hint = 'queries[0].agregate is not known and was left out; did you mean aggregate?'
    const misspelt = { alias: 'misspelt', agregate: { op: 'SUM' } }
    const hintsIn = ({ warnings }: { warnings: string[] }) =>
      warnings.filter((each) => each.includes('left out;'))
    for (const round of ['computed', 'kept']) {
      const { body } = await ask(misspelt)
      expect([round, hintsIn(body)]).toEqual([round, [hint]])
    }
    expect(hintsIn((await ask({ alias: 'misspelt' })).body)).toEqual([])
    expect(hintsIn((await ask(misspelt)).body)).toEqual([hint])
    const instant = await ask(misspelt, { time: START_MS + HOUR_MS }, 'metrics/demo/explain/query')
    expect(hintsIn(instant.body)).toEqual([hint])
    const { body } = await service.post('/insights/demo/explain/query', {
      timeRange,
      queries: [{ metricsQuery: { query: 'price', agregate: { op: 'SUM' } } }],
    })
    expect(hintsIn(body)).toEqual([hint.replace('[0].', '[0].metricsQuery.')])
  })

  it('of an instant query and of insights the same', async () => {
    const instant = await ask({}, { time: START_MS + HOUR_MS, explain: true }, 'metrics/demo/explain/query')
    expect(instant.body.explain.queries[0].plan.samples).toBe('carried forward')
    const { body } = await service.post('/insights/demo/explain/query', {
      timeRange,
      queries: [{ metricsQuery: { query: 'price' } }],
      explain: true,
    })
    expect(body.explain.queries[0]).toMatchObject({ field: 'queries[0].metricsQuery', name: 'price' })
  })

  it.each([
    [{ functions: [call('rate', 1, 'h')] }, {}, /^rate of the gauge "price" adds up its rises/],
    [{ functions: [call('avg_over_time', 5, 'm')] }, { step: 600 }, /% of the windows hold no sample/],
    [{ functions: [call('rollup_max', 15, 'm')] }, {}, /shorter than the step of 3600 s; what lies between/],
    [
      { functions: [call('rollup_max', 1, 'h'), call('sum_over_time', 30, 'm')] },
      {},
      /sees one value of the function before/,
    ],
    [{ labelSelector: { token: 'D' } }, {}, /labelSelector matches none of the 3 series of "price"/],
    [{ aggregate: { grouping: ['venue'] } }, {}, /no series of "price" has the label "venue"/],
    [{}, { step: 1 }, /^timeRange.step: 1 s would give more than 1000 points; raised to 300 s$/],
    [{ query: 'prices' }, {}, /^metric "prices" does not exist$/],
    [
      { query: 'sum(rate(price[5m]))' },
      {},
      /^metric "sum_rate_price_5m___" does not exist; it is the name alone/,
    ],
    [{ labelSelector: { tokn: 'A' } }, {}, /^the labelSelector matches none .*; none has the label "tokn"$/],
    [{ disabled: true }, {}, /^there is nothing to answer: queries and formulas are absent or disabled$/],
  ])('in `warnings` what is almost surely not meant: %j %j', async (query, range, warning) => {
    const { body } = await ask(query, { timeRange: { ...timeRange, ...range } })
    expect(body.warnings).toEqual([expect.stringMatching(warning)])
  })

  it('no warning where there is nothing to say', async () => {
    for (const functions of [[], [call('rollup_max', 1, 'h')], [call('irate', 2, 'h')]]) {
      expect((await ask({ functions })).body.warnings).toEqual([])
    }
  })

  it.each([
    [
      [{ name: 'topk', arguments: [{ intValue: 0 }] }],
      'queries[0].functions[0]: topk takes one argument {"intValue": k} with k at least 1; not [{"intValue":0}]',
    ],
    [
      [{ name: 'abs' }, call('rate', 1, 'fortnight')],
      'queries[0].functions[1].arguments[0].durationValue.unit of rate: "fortnight" is not one of s, m, h, d, w, mo, y or their English names',
    ],
    [
      [call('rate', 1.5, 'd')],
      'queries[0].functions[0].arguments[0].durationValue.value of rate: 1.5 must be a whole number of days, weeks, months or years',
    ],
    [
      [{ name: 'rate' }],
      'queries[0].functions[0]: rate takes one argument {"durationValue": {"value": 1, "unit": "d"}}; none was given',
    ],
  ])('in an error the query, the function and the argument: %j (FN-7)', async (functions, message) => {
    const { body } = await ask({ functions })
    expect(body.results[0].error).toBe(message)
  })

  it('what steps there are when it refuses one (TR-4)', async () => {
    const { status, body } = await ask({}, { timeRange: { ...timeRange, step: 20_000_000_000 } })
    expect(status).toBe(400)
    expect(body.message).toBe(
      'timeRange.step: 20000000000 must be an integer of seconds from 1 to 12614400000 (400 years)',
    )
  })
})
