import { client, DataService } from '@sentio/api'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type Answer, type TestService } from '../support/service.ts'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 5, 1)

/** Day, who, venue, amount, note. */
const EVENTS = [
  [0, 'ann', 'a', 10, 'big trade'],
  [0, 'bob', 'a', 20, 'trade'],
  [0, 'ann', 'b', 30, 'trade'],
  [1, 'ann', 'a', 40, null],
  [3, 'cat', 'b', 50, 'big trade'],
  [3, 'bob', 'a', 60, 'trade'],
] as const

describe('insights', () => {
  let service: TestService

  beforeAll(async () => {
    service = await startTestService()
    await service.post('/projects', { owner: 'demo', name: 'insights' })
    const { status } = await service.post('/ingest/demo/insights/batch', {
      records: EVENTS.flatMap(([day, distinctId, venue, amount, note], index) => {
        const place = {
          chain: '1',
          blockNumber: index,
          timestampMicros: (START_MS + day * DAY_MS + index * 60_000) * 1000,
        }
        return [
          {
            type: 'event',
            name: 'Trade',
            distinctId,
            attributes: {
              venue,
              amount,
              ...(note === null ? {} : { note }),
              wei: { $int: `${amount}${'0'.repeat(30)}` },
            },
            ...place,
          },
          { type: 'counter', name: 'volume', value: amount, ...place },
        ]
      }),
    })
    expect(status).toBe(200)
  })
  afterAll(() => service.stop())

  const timeRange = { start: START_MS, end: START_MS + 3 * DAY_MS, step: 86_400, timezone: 'UTC' }
  function ask(request: object): Promise<Answer> {
    return service.post('/insights/demo/insights/query', { timeRange, ...request })
  }
  /** The values of the first result by labels; days without a point are absent. */
  async function days(
    eventsQuery: object,
    range: object = timeRange,
  ): Promise<Record<string, Record<number, number>>> {
    const { body } = await ask({
      timeRange: range,
      queries: [{ eventsQuery: { resource: { name: 'Trade' }, ...eventsQuery }, dataSource: 'EVENTS' }],
    })
    expect(body.results[0].error).toBeUndefined()
    type Sample = { metric: { labels: object }; values: { timestamp: string; value: number }[] }
    return Object.fromEntries(
      body.results[0].matrix.samples.map(({ metric, values }: Sample) => [
        Object.values(metric.labels).join(' '),
        Object.fromEntries(
          values.map(({ timestamp, value }) => [(Number(timestamp) * 1000 - START_MS) / DAY_MS, value]),
        ),
      ]),
    )
  }
  const count = (value: number, unit: string) => ({ countUnique: { duration: { value, unit } } })
  const property = (type: string, propertyName = 'amount') => ({
    aggregateProperties: { type, propertyName },
  })
  const where = (key: string, operator: string, ...value: object[]) => ({
    selector: { key, operator, value },
  })

  it.each([
    [{ total: {} }, { 0: 3, 1: 1, 2: 0, 3: 2 }],
    [undefined, { 0: 3, 1: 1, 2: 0, 3: 2 }],
    [{ unique: {} }, { 0: 2, 1: 1, 2: 0, 3: 2 }],
    [count(1, 'd'), { 0: 2, 1: 1, 2: 0, 3: 2 }],
    [count(2, 'd'), { 0: 2, 1: 2, 2: 1, 3: 2 }],
    [count(1, 'week'), { 0: 2, 1: 2, 2: 2, 3: 3 }],
    [{ countUnique: {} }, { 0: 2, 1: 2, 2: 2, 3: 3 }],
    [property('SUM'), { 0: 60, 1: 40, 3: 110 }],
    [property('CUMULATIVE_SUM'), { 0: 60, 1: 100, 2: 100, 3: 210 }],
    [property('AVG'), { 0: 20, 1: 40, 3: 55 }],
    [property('MEDIAN'), { 0: 20, 1: 40, 3: 55 }],
    [property('MIN'), { 0: 10, 1: 40, 3: 50 }],
    [property('MAX'), { 0: 30, 1: 40, 3: 60 }],
    [property('FIRST'), { 0: 10, 1: 40, 3: 50 }],
    [property('LAST'), { 0: 30, 1: 40, 3: 60 }],
    [property('CUMULATIVE_FIRST'), { 0: 10, 1: 10, 2: 10, 3: 10 }],
    [property('CUMULATIVE_LAST'), { 0: 30, 1: 40, 2: 40, 3: 60 }],
    [property('DISTINCT_COUNT', 'venue'), { 0: 2, 1: 1, 2: 0, 3: 2 }],
    [property('CUMULATIVE_DISTINCT_COUNT', 'distinct_id'), { 0: 2, 1: 2, 2: 2, 3: 3 }],
    [property('CUMULATIVE_COUNT', 'note'), { 0: 3, 1: 3, 2: 3, 3: 5 }],
    [property('PERCENTILE_75TH'), { 0: 25, 1: 40, 3: 57.5 }],
    [property('SUM', 'wei'), { 0: 60e30, 1: 40e30, 3: 110e30 }],
  ])(
    'computes %j of events, each point standing for the day that it begins',
    async (aggregation, expected) => {
      const values = (await days(aggregation ? { aggregation } : {}))['']
      expect(Object.keys(values ?? {})).toEqual(Object.keys(expected))
      for (const [day, value] of Object.entries(expected)) {
        expect((values?.[Number(day)] ?? Number.NaN) / (value || 1)).toBeCloseTo(value === 0 ? 0 : 1, 12)
      }
    },
  )

  it('warns of an aggregation and a limit that it does not know instead of counting events without a word (WI-2)', async () => {
    const eventsQuery = { resource: { name: 'Trade' }, aggregation: { sum: { propertyName: 'amount' } } }
    const { body } = await ask({ queries: [{ eventsQuery }], samplesLimit: 5 })
    expect((body as { warnings?: unknown }).warnings).toEqual([
      'queries[0].eventsQuery.aggregation.sum is not known and was left out; known are total, unique, countUnique, aggregateProperties',
      'samplesLimit is not known and was left out; did you mean limit?',
    ])
  })

  it('groups by properties, keeping the groups with most events', async () => {
    expect(await days({ groupBy: ['venue'] })).toEqual({
      a: { 0: 2, 1: 1, 2: 0, 3: 1 },
      b: { 0: 1, 1: 0, 2: 0, 3: 1 },
    })
    expect(Object.keys(await days({ groupBy: ['venue'], limit: 1 }))).toEqual(['a'])
  })

  it('counts only events of some window when it chooses groups, where windows leave gaps', async () => {
    const inTwoDays = { ...timeRange, step: 2 * 86_400 }
    // One event each of ann, bob and cat; only bob's is in a window: of the day before an interval ends.
    const selectorExpr = {
      logicExpr: {
        operator: 'AND',
        expressions: [
          where('amount', 'BETWEEN', { intValue: 20 }, { intValue: 50 }),
          where('amount', 'NEQ', { intValue: 30 }),
        ],
      },
    }
    const eventsQuery = { aggregation: count(1, 'd'), groupBy: ['distinct_id'], selectorExpr }
    const groups = (limit: number) => days({ ...eventsQuery, limit }, inTwoDays)
    expect(await groups(1)).toEqual({ bob: { [-1]: 1, 1: 0, 3: 0 } })
    expect(await groups(9)).toEqual({ bob: { [-1]: 1, 1: 0, 3: 0 } })
  })

  it.each([
    [where('venue', 'EQ', { stringValue: 'b' }), 2],
    [where('venue', 'NEQ', { stringValue: 'b' }), 4],
    [where('venue', 'EQ', { listValue: { values: ['a', 'b'] } }), 6],
    [where('amount', 'EQ', { intValue: 40 }), 1],
    [where('amount', 'GT', { doubleValue: 39.5 }), 3],
    [where('amount', 'GTE', { longValue: '40' }), 3],
    [where('amount', 'LT', { intValue: 40 }), 3],
    [where('amount', 'LTE', { intValue: 40 }), 4],
    [where('amount', 'BETWEEN', { intValue: 20 }, { intValue: 40 }), 3],
    [where('amount', 'NOT_BETWEEN', { intValue: 20 }, { intValue: 40 }), 3],
    [where('wei', 'EQ', { longValue: `40${'0'.repeat(30)}` }), 1],
    [where('note', 'EXISTS'), 5],
    [where('note', 'NOT_EXISTS'), 1],
    [where('note', 'CONTAINS', { stringValue: 'big' }), 2],
    [where('note', 'NOT_CONTAINS', { stringValue: 'big' }), 4],
    [where('timestamp', 'GTE', { dateValue: '2026-06-02T00:00:00Z' }), 3],
    [
      {
        logicExpr: {
          operator: 'OR',
          expressions: [
            where('venue', 'EQ', { stringValue: 'b' }),
            {
              logicExpr: {
                expressions: [where('amount', 'GT', { intValue: 35 }), where('note', 'NOT_EXISTS')],
              },
            },
          ],
        },
      },
      3,
    ],
  ])('selects events by %j', async (selectorExpr, expected) => {
    const values = (await days({ selectorExpr }))[''] ?? {}
    expect(Object.values(values).reduce((a, b) => a + b, 0)).toBe(expected)
  })

  it('computes formulas over metrics and events, and tells sources (FO-1)', async () => {
    const rollup = [{ name: 'rollup_delta', arguments: [{ durationValue: { value: 1, unit: 'd' } }] }]
    const { status, body } = await ask({
      queries: [
        { metricsQuery: { id: 'a', query: 'volume', aggregate: { op: 'SUM' }, functions: rollup } },
        {
          eventsQuery: { id: 'b', resource: { name: 'Trade' }, aggregation: property('SUM'), disabled: true },
        },
      ],
      formulas: [{ id: 'f', expression: 'a - b' }],
    })
    expect(status).toBe(200)
    expect(body.results.map(({ dataSource }: { dataSource: string }) => dataSource)).toEqual([
      'METRICS',
      'FORMULA',
    ])
    const values = body.results[1].matrix.samples[0].values as { value: number }[]
    expect(values.map(({ value }) => value)).toEqual([0, 0, 0])
  })

  it.each([
    [{ resource: {} }, /resource.name/],
    [{ groupBy: ['nothing'] }, /has no property "nothing"; it has timestamp, /],
    [{ selectorExpr: where('venue', 'LIKE', { stringValue: 'b' }) }, /operator: "LIKE" is not one of EQ/],
    [{ selectorExpr: where('venue', 'BETWEEN', { intValue: 1 }) }, /BETWEEN takes 2/],
    [{ aggregation: property('MODE') }, /type: "MODE" is not one of SUM/],
    [{ aggregation: { aggregateProperties: { type: 'SUM' } } }, /propertyName: is required/],
  ])('tells what is wrong with %j in that result alone (ER-3)', async (change, message) => {
    const { status, body } = await ask({
      queries: [
        { eventsQuery: { resource: { name: 'Trade' }, ...change } },
        { eventsQuery: { resource: { name: 'Trade' } } },
      ],
    })
    expect(status).toBe(200)
    expect(body.results[0].error).toMatch(message)
    expect(body.results[1].matrix.totalSeries).toBe(1)
  })

  it('warns of an event log that does not exist and cannot be made to run other statements (MQ-8)', async () => {
    const name = "x'; drop table points"
    const { body } = await ask({ queries: [{ eventsQuery: { resource: { name } } }] })
    expect(body.warnings).toEqual([`event log ${JSON.stringify(name)} does not exist`])
    expect(await days({ selectorExpr: where('venue', 'EQ', { stringValue: "' or 1 = 1 --" }) })).toEqual({})
  })

  it('goes through the cache, and follows late events and metrics (CA-2, CA-5, CA-6)', async () => {
    const request = {
      queries: [{ eventsQuery: { resource: { name: 'Late' } } }, { metricsQuery: { query: 'late' } }],
    }
    const statsOf = (answer: Answer) => answer.body.results[0].computeStats
    const ingest = async (type: 'event' | 'gauge', day: number) => {
      const timestampMicros = (START_MS + day * DAY_MS) * 1000
      const place = { chain: '1', blockNumber: day, timestampMicros }
      const record = type === 'event' ? { type, name: 'Late' } : { type, name: 'late', value: 1 }
      const { status } = await service.post('/ingest/demo/insights/batch', {
        records: [{ ...record, ...place }],
      })
      expect(status).toBe(200)
    }
    for (const type of ['event', 'gauge'] as const) await ingest(type, 5)
    expect(statsOf(await ask(request)).isCached).toBe(false)
    const again = await ask(request)
    expect(statsOf(again).isCached).toBe(true)
    expect(again.body.compute_stats.is_cached).toBe(true)
    expect(again.headers.get('etag')).toMatch(/^W\/"/)
    const { headers } = again
    const unchanged = await service.post(
      '/insights/demo/insights/query',
      { timeRange, ...request },
      { 'if-none-match': headers.get('etag') ?? '' },
    )
    expect(unchanged.status).toBe(304)
    for (const [place, type] of (['event', 'gauge'] as const).entries()) {
      expect(again.body.results[place].matrix.totalSeries).toBe(0)
      await ingest(type, 1)
      expect(statsOf(await ask(request)).isRefreshing).toBe(true)
      await expect
        .poll(async () => (await ask(request)).body.results[place].matrix.totalSeries, { timeout: 20_000 })
        .toBe(1)
      expect(statsOf(await ask(request))).toMatchObject({ isCached: true, isRefreshing: false })
    }
    const noCache = await ask({ ...request, cachePolicy: { noCache: true } })
    expect(statsOf(noCache).isCached).toBe(false)
  })

  it('keeps no answer that holds an error, and tells requests apart by every member (CA-1, CA-4)', async () => {
    const bad = { queries: [{ eventsQuery: { resource: { name: 'Trade' }, groupBy: ['nothing'] } }] }
    for (let i = 0; i < 2; i += 1) {
      expect((await ask(bad)).body.results[0].computeStats.isCached).toBe(false)
    }
    const trade = { resource: { name: 'Trade' } }
    const different = [
      {},
      { aggregation: { unique: {} } },
      { selectorExpr: where('venue', 'EQ', { stringValue: 'a' }) },
      { selectorExpr: where('venue', 'EQ', { stringValue: 'b' }) },
      { groupBy: ['venue'] },
      { groupBy: ['venue'], limit: 1 },
      { functions: [{ name: 'abs' }] },
      { alias: 'x' },
    ]
    for (const change of different) {
      const query = { queries: [{ eventsQuery: { id: 'one', ...trade, ...change } }] }
      expect((await ask(query)).body.results[0].computeStats.isCached, JSON.stringify(change)).toBe(false)
      expect((await ask(query)).body.results[0].computeStats.isCached, JSON.stringify(change)).toBe(true)
    }
  })

  it('is read by the typed client', async () => {
    client.setConfig({ baseUrl: service.url, auth: service.administratorKey })
    const { data } = await DataService.query({
      path: { owner: 'demo', slug: 'insights' },
      body: {
        timeRange: { start: String(START_MS), end: String(START_MS + DAY_MS), step: 86_400 },
        queries: [{ eventsQuery: { resource: { name: 'Trade' } }, dataSource: 'EVENTS', sourceName: 'b' }],
        limit: 10,
      },
    })
    expect(data?.results?.[0]?.matrix?.samples?.[0]?.values?.[0]?.value).toBe(3)
  })
})
