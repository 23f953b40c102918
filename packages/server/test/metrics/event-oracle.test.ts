import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../support/service.ts'
import {
  eventOracle,
  propertyOf,
  type EventQuestion,
  type OracleCondition,
  type OracleEvent,
  type Plain,
} from './event-oracle.ts'
import { timeRanges } from './random-requests.ts'

const FIRST_MS = Date.UTC(2026, 2, 1)
const LAST_MS = Date.UTC(2026, 3, 12)
const ZONES = ['UTC', 'America/Los_Angeles', 'Australia/Lord_Howe', 'Asia/Kathmandu'] as const
const EVENTS = 1500

/** The same in each run: the numbers of a linear congruence. */
function makeEvents(): OracleEvent[] {
  let state = 12_345
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
  const times = new Set<number>()
  while (times.size < EVENTS) times.add(FIRST_MS * 1000 + next(LAST_MS - FIRST_MS) * 1000 + next(1000))
  return Array.from(times, (atMicros) => ({
    atMicros,
    who: next(10) === 0 ? '' : `user ${next(30)}`,
    venue: ['a', 'b', 'b', 'c', ''][next(5)] ?? '',
    amount: next(8) === 0 ? null : next(2000) - 500,
    note: next(3) === 0 ? null : (['big trade', 'trade', 'transfer'][next(3)] ?? null),
  }))
}

const amounts = (events: readonly OracleEvent[]) =>
  events.map(({ amount }) => amount).filter((amount) => amount !== null)
const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)
const some = (numbers: readonly number[], make: () => number) => (numbers.length === 0 ? null : make())
function quantile(numbers: readonly number[], q: number): number | null {
  const ascending = numbers.toSorted((a, b) => a - b)
  const place = q * (ascending.length - 1)
  const [low, high] = [ascending[Math.floor(place)] ?? 0, ascending[Math.ceil(place)] ?? 0]
  return some(numbers, () => low + (high - low) * (place % 1))
}
const people = (events: readonly OracleEvent[]) =>
  new Set(events.map(({ who }) => who).filter((who) => who !== '')).size
const venues = (events: readonly OracleEvent[]) =>
  new Set(events.map(({ venue }) => venue).filter((venue) => venue !== '')).size

const property = (type: string, propertyName = 'amount') => ({
  aggregateProperties: { type, propertyName },
})
const numbers = (of: Plain['of'], make: (amounts: readonly number[]) => number | null): Plain => ({
  of,
  value: (events) => make(amounts(events)),
})
const UNTIL = 'all until its end'
const AGGREGATIONS: readonly (readonly [object, Plain])[] = [
  [{ total: {} }, { of: 'interval', value: (events) => events.length }],
  [{ unique: {} }, { of: 'interval', value: people }],
  [{ countUnique: {} }, { of: UNTIL, value: people }],
  ...(
    [
      [1, 'd'],
      [7, 'd'],
      [1, 'mo'],
      [30, 'h'],
    ] as const
  ).map(
    ([value, unit]) =>
      [
        { countUnique: { duration: { value, unit } } },
        { of: 'interval', lookBack: { value, unit }, value: people },
      ] as const,
  ),
  [property('SUM'), numbers('interval', (all) => some(all, () => sum(all)))],
  [property('CUMULATIVE_SUM'), numbers(UNTIL, (all) => some(all, () => sum(all)))],
  [property('AVG'), numbers('interval', (all) => some(all, () => sum(all) / all.length))],
  [property('MEDIAN'), numbers('interval', (all) => quantile(all, 0.5))],
  [property('MIN'), numbers('interval', (all) => some(all, () => Math.min(...all)))],
  [property('MAX'), numbers('interval', (all) => some(all, () => Math.max(...all)))],
  [property('FIRST'), numbers('interval', (all) => all[0] ?? null)],
  [property('LAST'), numbers('interval', (all) => all.at(-1) ?? null)],
  [property('CUMULATIVE_FIRST'), numbers(UNTIL, (all) => all[0] ?? null)],
  [property('CUMULATIVE_LAST'), numbers(UNTIL, (all) => all.at(-1) ?? null)],
  [property('DISTINCT_COUNT', 'venue'), { of: 'interval', value: venues }],
  [property('CUMULATIVE_DISTINCT_COUNT', 'venue'), { of: UNTIL, value: venues }],
  [property('CUMULATIVE_COUNT'), { of: UNTIL, value: (events) => amounts(events).length }],
  [property('PERCENTILE_25TH'), numbers('interval', (all) => quantile(all, 0.25))],
  [property('PERCENTILE_75TH'), numbers('interval', (all) => quantile(all, 0.75))],
  [property('PERCENTILE_90TH'), numbers('interval', (all) => quantile(all, 0.9))],
  [property('PERCENTILE_95TH'), numbers('interval', (all) => quantile(all, 0.95))],
  [property('PERCENTILE_99TH'), numbers('interval', (all) => quantile(all, 0.99))],
]

function selector(
  key: string,
  operator: string,
  value: readonly object[],
  holds: OracleCondition['holds'],
): OracleCondition {
  return { wire: { selector: { key, operator, value } }, holds }
}

const compared: readonly [string, (amount: number, bound: number) => boolean][] = [
  ['EQ', (a, b) => a === b],
  ['GT', (a, b) => a > b],
  ['GTE', (a, b) => a >= b],
  ['LT', (a, b) => a < b],
  ['LTE', (a, b) => a <= b],
]
const simple: fc.Arbitrary<OracleCondition> = fc.oneof(
  fc
    .tuple(fc.constantFrom(...compared), fc.integer({ min: -500, max: 1500 }))
    .map(([[operator, holds], bound]) =>
      selector(
        'amount',
        operator,
        [{ intValue: bound }],
        ({ amount }) => amount !== null && holds(amount, bound),
      ),
    ),
  fc
    .tuple(fc.integer({ min: -500, max: 500 }), fc.integer({ min: 0, max: 1500 }))
    .map(([low, high]) =>
      selector(
        'amount',
        'BETWEEN',
        [{ intValue: low }, { longValue: String(high) }],
        ({ amount }) => amount !== null && amount >= low && amount <= high,
      ),
    ),
  fc
    .constantFrom('a', 'b', 'z')
    .map((venue) => selector('venue', 'EQ', [{ stringValue: venue }], (event) => event.venue === venue)),
  fc
    .constantFrom('a', 'b')
    .map((venue) => selector('venue', 'NEQ', [{ stringValue: venue }], (event) => event.venue !== venue)),
  fc.constant(selector('note', 'EXISTS', [], ({ note }) => note !== null)),
  fc.constant(selector('note', 'NOT_EXISTS', [], ({ note }) => note === null)),
  fc.constant(
    selector('note', 'CONTAINS', [{ stringValue: 'trade' }], ({ note }) => note?.includes('trade') ?? false),
  ),
  fc.constant(
    selector(
      'note',
      'NOT_CONTAINS',
      [{ stringValue: 'big' }],
      ({ note }) => !(note?.includes('big') ?? false),
    ),
  ),
)
const condition: fc.Arbitrary<OracleCondition | null> = fc.oneof(
  fc.constant(null),
  simple,
  fc
    .tuple(fc.constantFrom('AND', 'OR'), fc.array(simple, { minLength: 1, maxLength: 3 }))
    .map(([operator, all]): OracleCondition => ({
      wire: { logicExpr: { operator, expressions: all.map(({ wire }) => wire) } },
      holds: (event) =>
        operator === 'AND' ? all.every((each) => each.holds(event)) : all.some((each) => each.holds(event)),
    })),
)
const question: fc.Arbitrary<EventQuestion> = fc
  .record({
    aggregation: fc.constantFrom(...AGGREGATIONS),
    condition,
    groupBy: fc.constantFrom<('venue' | 'who')[]>([], ['venue'], ['venue', 'who']),
  })
  .map(({ aggregation: [aggregation, plain], ...rest }) => ({ aggregation, plain, ...rest }))

describe('insights of random events', () => {
  const events = makeEvents()
  let service: TestService

  beforeAll(async () => {
    service = await startTestService()
    await service.post('/projects', { owner: 'demo', name: 'events' })
    const { status } = await service.post('/ingest/demo/events/batch', {
      records: events.map(({ atMicros, who, venue, amount, note }) => ({
        type: 'event',
        name: 'Trade',
        ...(who === '' ? {} : { distinctId: who }),
        attributes: { venue, ...(amount === null ? {} : { amount }), ...(note === null ? {} : { note }) },
        timestampMicros: atMicros,
      })),
    })
    expect(status).toBe(200)
  })
  afterAll(() => service.stop())

  it('have what plain counting gives, for every aggregation, selector and group (CA-6, TR-6)', async () => {
    const range = timeRanges({ firstMs: FIRST_MS, lastMs: LAST_MS, zones: ZONES })
    let points = 0
    await fc.assert(
      fc.asyncProperty(range, question, async (range, question) => {
        const { startMs, endMs, stepSeconds, timezone } = range
        const { body } = await service.post('/insights/demo/events/query', {
          timeRange: { start: startMs, end: endMs, step: stepSeconds, timezone },
          queries: [
            {
              eventsQuery: {
                resource: { name: 'Trade' },
                aggregation: question.aggregation,
                groupBy: question.groupBy.map(propertyOf),
                ...(question.condition ? { selectorExpr: question.condition.wire } : {}),
              },
            },
          ],
          formulas: [{ expression: '0' }],
          cachePolicy: { noCache: true },
        })
        const [result, grid] = body.results
        expect(result.error).toBeUndefined()
        type Sample = {
          metric: { labels: Record<string, string> }
          values: { timestamp: string; value: number }[]
        }
        const places: string[] = grid.matrix.samples[0].values.map(
          (each: { timestamp: string }) => each.timestamp,
        )
        const found = new Map(
          (result.matrix.samples as Sample[]).map(({ metric, values }) => {
            const byTime = new Map(values.map(({ timestamp, value }) => [timestamp, value]))
            const labels = question.groupBy
              .map(propertyOf)
              .flatMap((name) => (name in metric.labels ? [[name, metric.labels[name]]] : []))
            return [JSON.stringify(labels), places.map((place) => byTime.get(place) ?? null)]
          }),
        )
        const expected = eventOracle(events, question, range)
        expect([...found.keys()].toSorted()).toEqual([...expected.keys()].toSorted())
        for (const [key, values] of expected) {
          const got = found.get(key) ?? []
          points += values.length
          const wrong = values.findIndex((value, i) => {
            const other = got[i] ?? null
            return value === null || other === null ? value !== other : Math.abs(value - other) > 1e-6
          })
          expect(
            wrong < 0 ? null : { key, point: places[wrong], is: got[wrong], shouldBe: values[wrong] },
          ).toBeNull()
        }
      }),
      { numRuns: 120 },
    )
    expect(points).toBeGreaterThan(1000)
  }, 240_000)
})
