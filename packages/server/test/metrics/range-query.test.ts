import type { QueryRangeRequest } from '@millrace/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ResultCache } from '../../src/cache/cache-policy.ts'
import { HOUR, NOW, period, project, startPrices, timeRange, values } from './prices.ts'
import { noCache, rangeQueries } from './range-queries.ts'
import { storeSamples, testProject } from './samples.ts'

describe('a range query', () => {
  let prices: Awaited<ReturnType<typeof startPrices>>
  beforeAll(async () => {
    prices = await startPrices()
  })
  afterAll(() => prices.stop())
  const ask = (request: Partial<QueryRangeRequest>) => prices.ask(request)

  const carried = {
    '1 WBTC': [null, null, 100, 100, 100],
    '1 WETH': [null, 10, 10, 30, 30],
    '56 CAKE': [5, 5, 5, 7, 7],
  }

  describe('of a metric', () => {
    it('carries a gauge forward without limit (MQ-2), ordered by last value (MQ-7)', async () => {
      const found = values(await ask({ queries: [{ query: 'price' }] }))
      expect(found).toEqual(carried)
      expect(Object.keys(found)).toEqual(['1 WBTC', '1 WETH', '56 CAKE'])
    })

    it('adds up a counter from its beginning (MQ-3)', async () => {
      expect(values(await ask({ queries: [{ query: 'minted' }] }))).toEqual({
        '1': [100, 105, 107, 107, 107],
      })
    })

    it('takes what was added in a window by rollup_delta, and warns of rollup_sum (MQ-3)', async () => {
      const functions = (name: string) => [{ name, arguments: period(1, 'h') }]
      const delta = await ask({ queries: [{ query: 'minted', functions: functions('rollup_delta') }] })
      expect(values(delta)).toEqual({ '1': [5, 2, null, null, null] })
      expect(delta.warnings).toEqual([])
      const sum = await ask({ queries: [{ query: 'minted', functions: functions('rollup_sum') }] })
      expect(values(sum)).toEqual({ '1': [105, 103 + 107, null, null, null] })
      expect(sum.warnings).toEqual([
        expect.stringMatching(/rollup_sum of the counter "minted".*rollup_delta/),
      ])
    })

    it('gives per second by rate and counts empty windows once begun (FN-3, FN-4)', async () => {
      const run = async (name: string) =>
        values(
          await ask({ queries: [{ query: 'minted', functions: [{ name, arguments: period(1, 'hours') }] }] }),
        )
      expect(await run('rate')).toEqual({ '1': [null, 5 / HOUR, 4 / HOUR, null, null] })
      expect(await run('increase')).toEqual({ '1': [null, 5, 4, null, null] })
      expect(await run('count_over_time')).toEqual({ '1': [0, 1, 2, 0, 0] })
    })

    it('takes the grid values of one function as samples of the next (FN-7)', async () => {
      const functions = [
        { name: 'rollup_delta', arguments: period(1, 'h') },
        { name: 'sum_over_time', arguments: period(2, 'h') },
      ]
      expect(values(await ask({ queries: [{ query: 'minted', functions }] }))).toEqual({
        '1': [5, 7, 2, null, null],
      })
    })

    it('tells the calendar of t in the timezone (FN-5)', async () => {
      const run = async (name: string) => {
        const startMs = NOW - 3_600_000
        const answer = await prices.ask({
          timeRange: { start: startMs, end: 'now', step: 86_400, timezone: 'Asia/Kathmandu' },
          queries: [{ query: 'price', labelSelector: { token: 'CAKE' }, functions: [{ name }] }],
        })
        return answer.results[0]?.series[0]?.values[0]
      }
      // 2026-07-01 begins in Nepal at 18:15 UTC of June 30, which is after the end; June 30 is a Tuesday.
      expect(await run('timestamp')).toBe(Date.UTC(2026, 5, 29, 18, 15) / 1000)
      const names = ['minute', 'hour', 'day_of_week', 'day_of_month', 'day_of_year', 'month', 'year']
      expect(await Promise.all(names.map(run))).toEqual([0, 0, 2, 30, 181, 6, 2026])
    })

    it('shifts, computes and ranks (FN-5, FN-6)', async () => {
      const run = async (name: string, ...args: object[]) =>
        values(await ask({ queries: [{ query: 'price', functions: [{ name, arguments: args }] }] }))
      expect((await run('before', ...period(1, 'h')))['1 WETH']).toEqual([null, null, 10, 10, 30])
      expect((await run('after', ...period(1, 'h')))['1 WETH']).toEqual([10, 10, 30, 30, 30])
      expect((await run('clamp_max', { intValue: 20 }))['1 WETH']).toEqual([null, 10, 10, 20, 20])
      expect((await run('log10'))['1 WETH']?.[1]).toBe(1)
      // At hour 0 the smallest is the largest there is.
      expect(Object.keys(await run('topk', { intValue: 1 }))).toEqual(['1 WBTC', '1 WETH', '56 CAKE'])
      expect(Object.keys(await run('bottomk', { intValue: 1 }))).toEqual(['56 CAKE'])
    })
  })

  describe('with a label selector', () => {
    const cases: [Record<string, string>, string[]][] = [
      [{ chain: '1' }, ['1 WBTC', '1 WETH']],
      [{ chain: '1', token: 'WETH' }, ['1 WETH']],
      [{ chain: '!=1' }, ['56 CAKE']],
      [{ token: '=~W.*' }, ['1 WBTC', '1 WETH']],
      [{ token: '=~W' }, []],
      [{ token: '!~.*TC|CAKE' }, ['1 WETH']],
      [{ absent: '' }, ['1 WBTC', '1 WETH', '56 CAKE']],
      [{ absent: '!=' }, []],
      [{ token: `W' or '1' = '1` }, []],
      [{ [`x'] or 1 --`]: '' }, ['1 WBTC', '1 WETH', '56 CAKE']],
      [{ token: '=~\\w{4}' }, ['1 WBTC', '1 WETH', '56 CAKE']],
    ]
    it.each(cases)('%j finds %j (MQ-4)', async (labelSelector, expected) => {
      expect(Object.keys(values(await ask({ queries: [{ query: 'price', labelSelector }] })))).toEqual(
        expected,
      )
    })

    it('tells a broken regular expression as the error of its result (ER-3)', async () => {
      const answer = await ask({
        queries: [{ query: 'price', labelSelector: { token: '=~(' }, id: 'a' }, { query: 'minted' }],
      })
      expect(answer.results[0]?.error).toBe(
        'queries[0]: labelSelector: not an RE2 regular expression (missing )): token: "=~("',
      )
      expect(answer.results[1]?.error).toBeNull()
    })
  })

  describe('with an aggregate', () => {
    it('combines the values that series have at t, silent ones included (MQ-5)', async () => {
      const run = async (aggregate: { op?: string; grouping?: string[] }) =>
        values(await ask({ queries: [{ query: 'price', aggregate }] }))
      expect(await run({ op: 'SUM', grouping: [] })).toEqual({ '': [5, 15, 115, 137, 137] })
      expect(await run({ op: 'sum', grouping: ['chain'] })).toEqual({
        '1': [null, 10, 110, 130, 130],
        '56': [5, 5, 5, 7, 7],
      })
      expect(await run({ op: 'COUNT' })).toEqual({ '': [1, 2, 3, 3, 3] })
      expect(await run({ op: 'MIN' })).toEqual({ '': [5, 5, 5, 7, 7] })
      expect(await run({ op: 'MAX' })).toEqual({ '': [5, 10, 100, 100, 100] })
      expect((await run({}))['']?.[1]).toBe(7.5)
    })

    it('refuses another operation in its result (ER-2, ER-3)', async () => {
      const answer = await ask({ queries: [{ query: 'price', aggregate: { op: 'MEDIAN' } }] })
      expect(answer.results[0]?.error).toMatch(/queries\[0\].aggregate.op: "MEDIAN" is not one of AVG, SUM/)
    })
  })

  describe('names and limits', () => {
    it('fills labels into the alias, or shows the expression (MQ-6)', async () => {
      const answer = await ask({
        queries: [
          { query: 'supply', alias: '{{ chain }}: {{missing}}supply' },
          { query: 'supply' },
          { query: 'supply', aggregate: { op: 'SUM' } },
        ],
      })
      const names = answer.results.map(({ series }) => series.map(({ displayName }) => displayName))
      expect(names).toEqual([
        ['56: supply', '1: supply'],
        ['supply{chain="56"}', 'supply{chain="1"}'],
        ['supply'],
      ])
    })

    it('keeps a page of series and tells how many there were (MQ-7)', async () => {
      const answer = await ask({ queries: [{ query: 'price' }], samplesLimit: 1, samplesOffset: 1 })
      expect(Object.keys(values(answer))).toEqual(['1 WETH'])
      expect(answer.results[0]?.totalSeries).toBe(3)
    })

    it('is empty with a warning for a metric that does not exist (MQ-8)', async () => {
      const answer = await ask({ queries: [{ query: 'nothing' }] })
      expect(answer.results[0]).toMatchObject({ error: null, series: [], totalSeries: 0 })
      expect(answer.warnings).toEqual(['metric "nothing" does not exist'])
    })

    it('is empty for a version or project without data (MQ-9)', async () => {
      expect((await ask({ queries: [{ query: 'price' }], version: 7 })).results[0]?.series).toEqual([])
      const empty = rangeQueries(prices.engine, { ...testProject(99), activeVersion: null }, NOW)
      expect((await empty({ timeRange, queries: [{ query: 'price' }] })).results[0]?.series).toEqual([])
    })

    it.each([
      [{ name: 'nonsense' }, /unknown function "nonsense"; known are avg_over_time/],
      [{ name: 'rollup_sum' }, /rollup_sum takes one argument \{"durationValue"/],
      [{ name: 'rollup_sum', arguments: [{ intValue: 1 }] }, /rollup_sum takes one argument/],
      [
        { name: 'rollup_sum', arguments: period(1, 'lightyears') },
        /unit of rollup_sum: "lightyears" is not one of s, m/,
      ],
      [{ name: 'rollup_sum', arguments: period(-1, 'd') }, /value of rollup_sum: -1 must be above 0/],
      [{ name: 'rollup_sum', arguments: period(0.5, 'd') }, /whole number of days/],
      [{ name: 'topk', arguments: [{ intValue: 0 }] }, /topk takes one argument .*at least 1/],
      [{ name: 'abs', arguments: [{ intValue: 0 }] }, /abs takes no argument/],
    ])('tells what %j lacks in its own result (FN-7, ER-3)', async (call, message) => {
      const answer = await ask({ queries: [{ query: 'price', functions: [call] }, { query: 'supply' }] })
      expect(answer.results[0]?.error).toMatch(message)
      expect(answer.results[0]?.error).toMatch(/^queries\[0\].functions\[0\]/)
      expect(answer.results[1]?.error).toBeNull()
    })
  })

  it('applies functions before it aggregates, and the limit last (MQ-1)', async () => {
    const query = {
      query: 'price',
      functions: [{ name: 'clamp_max', arguments: [{ intValue: 20 }] }],
      aggregate: { op: 'SUM', grouping: ['chain'] },
    }
    const answer = await ask({ queries: [query], samplesLimit: 1 })
    expect(values(answer)).toEqual({ '1': [null, 10, 30, 40, 40] })
    expect(answer.results[0]?.totalSeries).toBe(2)
  })

  describe('and the cache', () => {
    function recording() {
      const keys: string[] = []
      const cache: ResultCache = {
        through: (question, policy) => {
          keys.push(question.key)
          return noCache(NOW).through(question, policy)
        },
      }
      return { keys, cache }
    }

    it('is asked with the meaning of a request, relative times as written, whatever the policy (CA-1)', async () => {
      const { keys, cache } = recording()
      const request = { queries: [{ query: 'price', labelSelector: { chain: '1', token: 'WETH' } }] }
      const relative = { start: 'now-1d', end: 'now', step: HOUR }
      await rangeQueries(prices.engine, project, NOW, cache)({ timeRange: relative, ...request })
      await rangeQueries(
        prices.engine,
        project,
        NOW + 60_000,
        cache,
      )({
        timeRange: { ...relative, start: '-1d', timezone: 'UTC' },
        queries: [{ query: 'price', labelSelector: { token: 'WETH', chain: '1' } }],
        formulas: [],
        version: 1,
        samplesLimit: 1000,
        cachePolicy: { cacheTtlSecs: 5 },
      })
      await rangeQueries(
        prices.engine,
        project,
        NOW,
        cache,
      )({ timeRange: { ...relative, step: 60 }, ...request })
      expect(keys[1]).toBe(keys[0])
      expect(keys[2]).not.toBe(keys[0])
    })

    it('is not given an answer that holds an error (CA-4)', async () => {
      let kept = 0
      const cache: ResultCache = {
        async through(question, policy) {
          const cached = await noCache(NOW).through(question, policy)
          kept += 1
          return cached
        },
      }
      const run = rangeQueries(prices.engine, project, NOW, cache)
      const good = { query: 'price' }
      const answer = await run({
        timeRange,
        queries: [good, { query: 'price', functions: [{ name: 'no' }] }],
      })
      expect(answer.results.map(({ error }) => error !== null)).toEqual([false, true])
      expect(kept).toBe(0)
      await run({ timeRange, queries: [good] })
      expect(kept).toBe(1)
    })

    it('gets plain JSON, which reads back as it was', async () => {
      const answer = await ask({ queries: [{ query: 'price' }] })
      expect(JSON.parse(JSON.stringify(answer))).toEqual(answer)
    })
  })

  it('answers the request of the interface: two rollup sums over 30 days in Los Angeles (TR-5, TR-6, FN-2)', async () => {
    const days = testProject(2)
    const minute = 60 * 1e6
    const from = (NOW - 31 * 86_400_000) * 1000
    const of = (metric: string, value: number) =>
      Array.from({ length: 31 * 24 * 6 }, (_, i) => ({
        metric,
        type: 'gauge' as const,
        labels: {},
        value,
        ordinal: i,
        blockNumber: i,
        timestampMicros: from + i * 10 * minute,
      }))
    await storeSamples(prices.engine, days.id, [...of('mint_sum', 2), ...of('burn_sum', 1)])
    const functions = [{ name: 'rollup_sum', arguments: period(1, 'd') }]
    const answer = await rangeQueries(
      prices.engine,
      days,
      NOW,
    )({
      timeRange: { start: 'now-30d', end: 'now', step: 3600, timezone: 'America/Los_Angeles' },
      queries: [
        {
          query: 'mint_sum',
          alias: 'Mint (24 hours)',
          id: 'a',
          labelSelector: {},
          functions,
          disabled: false,
        },
        { query: 'burn_sum', alias: 'Burn', id: 'b', labelSelector: {}, functions, disabled: false },
      ],
      formulas: [],
      samplesLimit: 20,
    })
    expect(answer).toMatchObject({ stepSeconds: 3600, isAdjusted: false, warnings: [] })
    expect(answer.timestampsSeconds).toHaveLength(721)
    const [mint, burn] = answer.results
    expect(mint).toMatchObject({ id: 'a', alias: 'Mint (24 hours)', error: null, totalSeries: 1 })
    expect(mint?.series[0]?.displayName).toBe('Mint (24 hours)')
    expect(mint?.series[0]?.values.slice(0, 3)).toEqual([288, 288, 288])
    expect(burn?.series[0]?.values.slice(0, 3)).toEqual([144, 144, 144])
    // The last window holds the half hour from the last grid point on.
    expect(mint?.series[0]?.values.at(-1)).toBe(6)
  })
})
