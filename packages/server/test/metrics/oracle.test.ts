import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import type { OracleSeries } from './oracle-functions.ts'
import { oracle, type OracleRequest } from './oracle.ts'
import { PLAN_LIMITS, PLANS } from './plans.ts'
import { requests, timeRanges, toWire, windowFunction } from './random-requests.ts'
import { makeSamples } from './random-samples.ts'
import { noCache, rangeQueries } from './range-queries.ts'
import { seriesKey, storeSamples, testProject, type Sample } from './samples.ts'

const ZONES = [
  'UTC',
  'America/Los_Angeles',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Europe/Dublin',
] as const
/** Clocks changed in Los Angeles on 2026-03-08, in Dublin on 03-29, on Lord Howe Island on 04-05. */
const FIRST_MS = Date.UTC(2026, 2, 1)
const LAST_MS = Date.UTC(2026, 3, 12)

const bounds = { firstMs: FIRST_MS, lastMs: LAST_MS, zones: ZONES }
/** Of each version of the processor. */
const SAMPLES: Readonly<Record<number, readonly Sample[]>> = {
  1: [
    ...makeSamples({
      metric: 'whole_gauge',
      type: 'gauge',
      isWhole: true,
      labels: ['pool', 'chain'],
      ...bounds,
    }),
    ...makeSamples({
      metric: 'whole_counter',
      type: 'counter',
      isWhole: true,
      labels: ['pool', 'chain'],
      ...bounds,
    }),
    ...makeSamples({ metric: 'gauge', type: 'gauge', isWhole: false, labels: ['pool', 'chain'], ...bounds }),
    ...makeSamples({
      metric: 'counter',
      type: 'counter',
      isWhole: false,
      labels: ['pool', 'chain'],
      ...bounds,
    }),
    ...makeSamples({ metric: 'by_pool', type: 'gauge', isWhole: true, labels: ['pool'], ...bounds }),
    ...makeSamples({ metric: 'by_chain', type: 'counter', isWhole: true, labels: ['chain'], ...bounds }),
    ...makeSamples({ metric: 'plain', type: 'gauge', isWhole: true, labels: [], ...bounds }),
  ],
  2: [
    ...makeSamples({
      metric: 'whole_gauge',
      type: 'gauge',
      isWhole: true,
      labels: ['pool'],
      seed: 2,
      ...bounds,
    }),
    ...makeSamples({
      metric: 'by_chain',
      type: 'gauge',
      isWhole: true,
      labels: ['chain'],
      seed: 2,
      ...bounds,
    }),
  ],
}
const WHOLE = ['whole_gauge', 'whole_counter', 'by_pool', 'by_chain', 'plain', 'nothing']
const FRACTIONAL = new Set(['gauge', 'counter'])
/** Functions of which two ways of adding may give results that differ in the last digit. */
const INEXACT = /avg|rate|stddev|quantile|sqrt|ln|log|exp/

describe('a range query on random samples', () => {
  const project = testProject(1)
  let test: TestEngine

  beforeAll(async () => {
    test = await startTestEngine()
    for (const [version, samples] of Object.entries(SAMPLES)) {
      await storeSamples(test.engine, project.id, samples, Number(version))
    }
  }, 120_000)
  afterAll(() => test.stop())

  /** One for each plan, so that what it remembers is what earlier requests left. */
  const ways = new Map<string, ReturnType<typeof rangeQueries>>()
  function asked(plan: keyof typeof PLAN_LIMITS) {
    const known = ways.get(plan)
    if (known) return known
    const way = rangeQueries(test.engine, project, LAST_MS, noCache(LAST_MS), PLAN_LIMITS[plan])
    ways.set(plan, way)
    return way
  }

  /** Points that were compared, so that no property holds for want of any. */
  let compared = 0

  async function compare(plan: keyof typeof PLAN_LIMITS, request: OracleRequest, version: number) {
    const answer = await asked(plan)({ ...toWire(request), version })
    const { gridSeconds, results, scale } = oracle(SAMPLES[version] ?? [], request)
    expect(answer.timestampsSeconds).toEqual(gridSeconds)
    for (const [index, [id, expected]] of [...results].entries()) {
      const result = answer.results[index]
      expect(result?.error === null, `${id}: ${result?.error}`).toBe(expected !== null)
      const query = request.queries.find((each) => each.id === id)
      const isExact =
        !FRACTIONAL.has(query?.metric ?? '') &&
        query?.aggregate?.op !== 'AVG' &&
        !query?.functions.some(({ name }) => INEXACT.test(name))
      const tolerance = query && isExact ? 0 : 1e-12 * scale
      expectSame(
        (result?.series ?? []).map(({ labels, values }) => ({ labels, values })),
        expected ?? [],
        tolerance,
        id,
      )
      compared += (expected ?? []).reduce((n, { values }) => n + values.filter((v) => v !== null).length, 0)
    }
  }

  it.each(PLANS)(
    'has what plain reading of the rulings gives by %s, for each function that looks at samples (TR-6, MQ-2, MQ-3, FN-1, FN-2, FN-3, FN-4)',
    async (plan) => {
      const metrics = ['whole_gauge', 'whole_counter', 'gauge', 'counter']
      const functions = fc.oneof(
        { arbitrary: windowFunction.map((call) => [call]), weight: 12 },
        { arbitrary: fc.constant([]), weight: 1 },
      )
      const one = fc
        .tuple(timeRanges(bounds), fc.constantFrom(...metrics), functions)
        .map(([range, metric, functions]): OracleRequest => ({
          ...range,
          queries: [{ id: 'a', metric, functions, selector: {}, aggregate: null }],
          formulas: [],
        }))
      await fc.assert(
        fc.asyncProperty(one, (request) => compare(plan, request, 1)),
        { numRuns: 60 },
      )
      expect(compared).toBeGreaterThan(1000)
    },
    180_000,
  )

  it.each(PLANS)(
    'has what plain reading of the rulings gives by %s, for selectors, chains of functions, aggregates and formulas over two versions and chains (MQ-1, MQ-4, MQ-5, MQ-9, FN-5, FN-6, FN-7, FO-1, FO-2, FO-3)',
    async (plan) => {
      const any = requests({ ...bounds, metrics: WHOLE })
      await fc.assert(
        fc.asyncProperty(any, fc.constantFrom(1, 2), (request, version) => compare(plan, request, version)),
        { numRuns: 120 },
      )
      expect(compared).toBeGreaterThan(1000)
    },
    300_000,
  )
})

/** Equal series, in any order, with points at the same places. */
function expectSame(
  actual: readonly OracleSeries[],
  expected: readonly OracleSeries[],
  tolerance: number,
  id: string,
): void {
  const found = new Map(actual.map((series) => [seriesKey(series.labels), series.values]))
  expect([...found.keys()].toSorted(), id).toEqual(expected.map(({ labels }) => seriesKey(labels)).toSorted())
  for (const { labels, values } of expected) {
    const got = found.get(seriesKey(labels)) ?? []
    const isEqual = (a: number | null, b: number | null) =>
      a === null || b === null ? a === b : Math.abs(a - b) <= tolerance + (tolerance && 1e-9 * Math.abs(b))
    const wrong = values.findIndex((value, i) => !isEqual(got[i] ?? null, value))
    expect(
      wrong < 0 ? null : { id, labels, point: wrong, is: got[wrong], shouldBe: values[wrong] },
    ).toBeNull()
  }
}
