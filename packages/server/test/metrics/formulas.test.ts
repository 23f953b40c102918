import type { QueryRangeRequest } from '@millrace/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { period, startPrices, values } from './prices.ts'

describe('a range query with formulas', () => {
  let prices: Awaited<ReturnType<typeof startPrices>>
  beforeAll(async () => {
    prices = await startPrices()
  })
  afterAll(() => prices.stop())
  const ask = (request: Partial<QueryRangeRequest>) => prices.ask(request)

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
