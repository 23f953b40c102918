import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { oracle, type OracleFunction } from './oracle.ts'
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
const NAMES = [
  ...['avg', 'sum', 'min', 'max', 'count', 'first', 'last', 'delta'].flatMap((name) => [
    `${name}_over_time`,
    `rollup_${name}`,
  ]),
  'stddev_over_time',
  'quantile_over_time',
  'rate',
  'irate',
  'increase',
  'delta',
]

/** A generator of its own (mulberry32), so that the samples are the same in each run. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Series that are dense, sparse, late and silent, with samples on full hours, of one time, and just beside. */
function makeSamples(metric: string, type: Sample['type'], isWhole: boolean): Sample[] {
  const next = random(metric.length + (isWhole ? 7 : 0))
  const samples: Sample[] = []
  for (const [pool, hoursApart] of [
    ['a', 1.5],
    ['b', 9],
    ['c', 90],
    ['d', 400],
  ] as const) {
    let micros = (FIRST_MS + next() * 40 * 3_600_000 * hoursApart) * 1000
    for (let ordinal = 0; micros < LAST_MS * 1000; ordinal += 1) {
      const hour = Math.round(micros / 3.6e9) * 3.6e9
      const timestampMicros = [hour, hour + 1, hour - 1, Math.round(micros), Math.round(micros)][
        Math.floor(next() * 5)
      ] as number
      const value = (next() - 0.3) * 1000
      const labels = { pool, chain: pool < 'c' ? '1' : '56' }
      const blockNumber = Math.floor(next() * 3)
      samples.push({
        metric,
        type,
        labels,
        timestampMicros,
        blockNumber,
        ordinal,
        value: isWhole ? Math.round(value) : value,
      })
      // A third of the samples share their time with the next one.
      micros = next() < 0.33 ? timestampMicros : micros + next() * 2 * hoursApart * 3.6e9
    }
  }
  return samples
}

const METRICS = [
  makeSamples('whole_gauge', 'gauge', true),
  makeSamples('whole_counter', 'counter', true),
  makeSamples('gauge', 'gauge', false),
  makeSamples('counter', 'counter', false),
]

/** Functions whose values are no whole numbers even where all samples are. */
const FRACTIONAL = /avg|rate|stddev|quantile/

/** The ways to an answer: hours where they suffice, and samples alone. */
const PLAN_OPTIONS = {
  'hours and samples': { usesHours: true },
  'samples alone': { usesHours: false },
} as const
const PLANS = Object.keys(PLAN_OPTIONS) as (keyof typeof PLAN_OPTIONS)[]

describe('a range query on real samples', () => {
  const project = testProject(1)
  let test: TestEngine

  beforeAll(async () => {
    test = await startTestEngine()
    await storeSamples(test.engine, project.id, METRICS.flat())
  })
  afterAll(() => test.stop())

  const period = fc.oneof(
    fc.record({ value: fc.integer({ min: 1, max: 3 }), unit: fc.constantFrom('d', 'w', 'mo') }),
    fc.record({ value: fc.integer({ min: 1, max: 30 }), unit: fc.constant('h') }),
    fc.record({ value: fc.integer({ min: 1, max: 300 }), unit: fc.constant('m') }),
  )
  const call: fc.Arbitrary<OracleFunction | null> = fc.oneof(
    { arbitrary: fc.constant(null), weight: 1 },
    {
      arbitrary: fc
        .tuple(fc.constantFrom(...NAMES), period, fc.constantFrom(0, 0.25, 0.5, 0.95, 1))
        .map(([name, period, quantile]) => ({
          name,
          ...period,
          ...(name === 'quantile_over_time' ? { quantile } : {}),
        })),
      weight: 12,
    },
  )
  const range = fc.record({
    startMs: fc.integer({ min: FIRST_MS - 86_400_000, max: LAST_MS }),
    lengthMs: fc.integer({ min: 0, max: 20 * 86_400_000 }),
    step: fc.constantFrom(1800, 3600, 5000, 7200, 43_200, 50_000, 86_400, 604_800),
    timezone: fc.constantFrom(...ZONES),
  })

  it.each(PLANS)(
    'has what plain reading of the rulings gives by %s, point for point (MQ-2, MQ-3, FN-1, FN-2, FN-3, FN-4)',
    async (plan) => {
      const query = rangeQueries(test.engine, project, LAST_MS, noCache(LAST_MS), PLAN_OPTIONS[plan])
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...METRICS.keys()), call, range, async (index, call, range) => {
          const samples = METRICS[index] ?? []
          const { startMs, lengthMs, step, timezone } = range
          const functions = call
            ? [
                {
                  name: call.name,
                  arguments: [
                    ...(call.quantile === undefined ? [] : [{ doubleValue: call.quantile }]),
                    { durationValue: { value: call.value, unit: call.unit } },
                  ],
                },
              ]
            : []
          const metric = samples[0]?.metric ?? ''
          const answer = await query({
            timeRange: { start: startMs, end: startMs + lengthMs, step, timezone },
            queries: [{ query: metric, id: 'a', functions }],
          })
          const expected = oracle(samples, call, answer.timestampsSeconds, timezone)
          const result = answer.results[0]
          expect(result?.error).toBeNull()
          const actual = new Map(result?.series.map(({ labels, values }) => [seriesKey(labels), values]))
          for (const [key, values] of expected) {
            const isEmpty = values.every((value) => value === null)
            const found = actual.get(key) ?? (isEmpty ? values : [])
            if (metric.startsWith('whole') && !(call && FRACTIONAL.test(call.name))) {
              expect(found).toEqual(values)
            } else {
              expect(found.map((value) => value === null)).toEqual(values.map((value) => value === null))
              for (const [i, value] of values.entries()) {
                const scale = Math.max(1, Math.abs(value ?? 0))
                expect((found[i] ?? 0) / scale).toBeCloseTo((value ?? 0) / scale, 6)
              }
            }
          }
          expect(actual.size).toBeLessThanOrEqual(expected.size)
        }),
        { numRuns: 50 },
      )
    },
    120_000,
  )
})
