import type { QueryRangeRequest } from '@millrace/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ResultCache } from '../../src/cache/cache-policy.ts'
import type { RangeAnswer } from '../../src/metrics/range-answer.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { noCache, rangeQueries } from './range-queries.ts'
import { storeSamples, testProject, type Sample } from './samples.ts'

const NOW = Date.UTC(2026, 5, 30, 12, 30)
const HOUR = 3600
const START = NOW / 1000 - 12.5 * HOUR
const project = testProject(1)

/** Samples of one series, `[hours after START, value]`. */
function series(
  metric: string,
  type: Sample['type'],
  labels: Record<string, string>,
  values: readonly (readonly [number, number])[],
): Sample[] {
  return values.map(([hours, value], ordinal) => ({
    metric,
    type,
    labels,
    value,
    ordinal,
    blockNumber: ordinal,
    timestampMicros: Math.round((START + hours * HOUR) * 1e6),
  }))
}

const SAMPLES = [
  ...series('price', 'gauge', { chain: '1', token: 'WETH' }, [
    [0.5, 10],
    [2.5, 30],
  ]),
  ...series('price', 'gauge', { chain: '1', token: 'WBTC' }, [[1.5, 100]]),
  ...series('price', 'gauge', { chain: '56', token: 'CAKE' }, [
    [-40, 5],
    [3, 7],
  ]),
  ...series('supply', 'gauge', { chain: '1' }, [
    [-1, 2],
    [3.5, 0],
  ]),
  ...series('supply', 'gauge', { chain: '56' }, [[2, 4]]),
  ...series('minted', 'counter', { chain: '1' }, [
    [-30, 100],
    [0.5, 5],
    [1.5, -2],
    [1.75, 4],
  ]),
]

describe('a range query', () => {
  let test: TestEngine
  let query: ReturnType<typeof rangeQueries>
  beforeAll(async () => {
    test = await startTestEngine()
    await storeSamples(test.engine, project.id, SAMPLES)
    query = rangeQueries(test.engine, project, NOW)
  })
  afterAll(() => test.stop())

  const timeRange = { start: START * 1000, end: (START + 4 * HOUR) * 1000, step: HOUR }

  /** Asks for hours 0 to 4. */
  function ask(request: Partial<QueryRangeRequest>): Promise<RangeAnswer> {
    return query({ timeRange, ...request })
  }

  /** The values of a result by its labels, in the order of the answer. */
  function values(answer: RangeAnswer, index = 0): Record<string, readonly (number | null)[]> {
    const result = answer.results[index]
    expect(result?.error).toBeNull()
    return Object.fromEntries(
      result?.series.map(({ labels, values }) => [Object.values(labels).join(' '), values]) ?? [],
    )
  }

  const period = (value: number, unit: string) => [{ durationValue: { value, unit } }]
  const prices = {
    '1 WBTC': [null, null, 100, 100, 100],
    '1 WETH': [null, 10, 10, 30, 30],
    '56 CAKE': [5, 5, 5, 7, 7],
  }

  describe('of a metric', () => {
    it('carries a gauge forward without limit (MQ-2), ordered by last value (MQ-7)', async () => {
      const found = values(await ask({ queries: [{ query: 'price' }] }))
      expect(found).toEqual(prices)
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
      expect(answer.results[0]?.error).toMatch(/regexp|re2|\(/i)
      expect(answer.results[0]?.error).not.toMatch(/millrace_p/)
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

  describe('with formulas', () => {
    const queries = [
      { query: 'price', id: 'a', aggregate: { op: 'SUM', grouping: ['chain'] } },
      { query: 'supply', id: 'b' },
    ]
    const run = async (expression: string) =>
      values(await ask({ queries, formulas: [{ expression, id: 'f' }] }), 2)

    it('counts a missing operand as 0 in sums and not in products (FO-3)', async () => {
      expect(await run('b - a')).toEqual({
        '56': [-5, -5, -1, -3, -3],
        '1': [2, -8, -108, -128, -130],
      })
      expect(await run('a * b')).toEqual({ '1': [null, 20, 220, 260, 0], '56': [null, null, 20, 28, 28] })
      expect(await run('a / b')).toEqual({
        '1': [null, 5, 55, 65, null],
        '56': [null, null, 1.25, 1.75, 1.75],
      })
    })

    it('matches a side without labels and numbers with everything (FO-2)', async () => {
      expect(await run('b * sum(b)')).toEqual({ '56': [null, null, 24, 24, 16], '1': [4, 4, 12, 12, 0] })
      expect((await run('a * 2 ^ -1'))['56']).toEqual([2.5, 2.5, 2.5, 3.5, 3.5])
      expect(await run('2 + 3 * 4')).toEqual({ '': [14, 14, 14, 14, 14] })
    })

    it('matches many to one by the labels of the smaller side (FO-2)', async () => {
      const answer = await ask({
        queries: [
          { query: 'price', id: 'p' },
          { query: 'supply', id: 's' },
        ],
        formulas: [{ expression: 'p*s', id: 'f' }],
      })
      expect(values(answer, 2)).toEqual({
        '56 CAKE': [null, null, 20, 28, 28],
        '1 WBTC': [null, null, 200, 200, 0],
        '1 WETH': [null, 20, 20, 60, 0],
      })
    })

    it('names the labels that stand in the way of matching (FO-2)', async () => {
      const answer = await ask({
        queries: [
          { query: 'price', id: 'p', aggregate: { grouping: ['token'] } },
          { query: 'supply', id: 's' },
        ],
        formulas: [{ expression: 'p+s', id: 'f' }],
      })
      expect(answer.results[2]?.error).toMatch(/only the left side has token, only the right side has chain/)
    })

    it('returns neither disabled queries nor disabled formulas, yet computes what is needed (MQ-6)', async () => {
      const answer = await ask({
        queries: queries.map((query) => ({ ...query, disabled: true })),
        formulas: [
          { expression: 'a*b', id: 'f', disabled: true },
          { expression: 'sum(f) + 1', id: 'g', alias: 'total' },
        ],
      })
      expect(answer.results.map(({ id }) => id)).toEqual(['g'])
      expect(values(answer)).toEqual({ '': [1, 21, 241, 289, 29] })
    })

    it('applies functions to its grid values (FO-1, FN-7)', async () => {
      const functions = [{ name: 'max_over_time', arguments: period(2, 'h') }]
      const answer = await ask({ queries, formulas: [{ expression: 'a/b', id: 'f', functions }] })
      expect(values(answer, 2)['1']).toEqual([null, 5, 55, 65, 65])
    })

    it('tells unknown ids, later formulas, syntax errors and failed operands with the place (FO-4)', async () => {
      const answer = await ask({
        queries: [
          { query: 'price', id: 'a', functions: [{ name: 'nonsense' }] },
          { query: 'supply', id: 'b' },
          { query: 'supply', id: 'b' },
        ],
        formulas: ['x+1', 'g2+1', 'a+1', '1 + * 2', 'b'].map((expression, i) => ({
          expression,
          id: `g${i}`,
        })),
      })
      const errors = answer.results.slice(3).map(({ error }) => error)
      expect(errors[0]).toMatch(/position 1: unknown id "x"; known are a, b/)
      expect(errors[1]).toMatch(/position 1: "g2" is this or a later formula/)
      expect(errors[2]).toMatch(/a: queries\[0\].functions\[0\]: unknown function "nonsense"/)
      expect(errors[3]).toMatch(/formulas\[3\].expression: position 5: expected a number/)
      expect(errors[4]).toMatch(/the id "b" is used twice/)
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
      const empty = rangeQueries(test.engine, { ...testProject(99), activeVersion: null }, NOW)
      expect((await empty({ timeRange, queries: [{ query: 'price' }] })).results[0]?.series).toEqual([])
    })

    it.each([
      [{ name: 'nonsense' }, /unknown function "nonsense"; known are avg_over_time/],
      [{ name: 'rollup_sum' }, /rollup_sum takes one argument \{"durationValue"/],
      [{ name: 'rollup_sum', arguments: [{ intValue: 1 }] }, /rollup_sum takes one argument/],
      [{ name: 'rollup_sum', arguments: period(1, 'lightyears') }, /unit: "lightyears" is not one of s, m/],
      [{ name: 'rollup_sum', arguments: period(-1, 'd') }, /value: must be above 0/],
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

  describe('and the cache', () => {
    function recording() {
      const keys: string[] = []
      const cache: ResultCache = {
        through: (key, policy, compute) => {
          keys.push(key)
          return noCache.through(key, policy, compute)
        },
      }
      return { keys, cache }
    }

    it('is asked with the meaning of a request, relative times as written, whatever the policy (CA-1)', async () => {
      const { keys, cache } = recording()
      const request = { queries: [{ query: 'price', labelSelector: { chain: '1', token: 'WETH' } }] }
      const relative = { start: 'now-1d', end: 'now', step: HOUR }
      await rangeQueries(test.engine, project, NOW, cache)({ timeRange: relative, ...request })
      await rangeQueries(
        test.engine,
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
        test.engine,
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
        async through(key, policy, compute) {
          const cached = await noCache.through(key, policy, compute)
          kept += 1
          return cached
        },
      }
      const run = rangeQueries(test.engine, project, NOW, cache)
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
    await storeSamples(test.engine, days.id, [...of('mint_sum', 2), ...of('burn_sum', 1)])
    const functions = [{ name: 'rollup_sum', arguments: period(1, 'd') }]
    const answer = await rangeQueries(
      test.engine,
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
