import type { QueryRangeRequest } from '@millrace/contract'
import fc from 'fast-check'
import { formulaText, type OracleFormula } from './oracle-formula.ts'
import type { OracleFunction } from './oracle-functions.ts'
import type { OracleFormulaQuery, OracleQuery, OracleRequest } from './oracle.ts'

/**
 * Requests for the comparison with the oracle. Values that two ways of adding may give a last digit apart (inexact) never
 * reach what makes a jump of it: rounding, ranking, divisors, roots of what may be zero.
 */

const WINDOWS_EXACT = ['sum', 'min', 'max', 'count', 'first', 'last', 'delta'].flatMap((name) => [
  `${name}_over_time`,
  `rollup_${name}`,
])
/** Functions that look at samples, by whether whole numbers stay whole. */
const EXACT = [...WINDOWS_EXACT, 'increase', 'delta', 'moving_delta', 'before', 'after']
const INEXACT = ['avg_over_time', 'rollup_avg', 'stddev_over_time', 'rate', 'irate']
const CALENDAR = [
  'timestamp',
  'minute',
  'hour',
  'day_of_week',
  'day_of_month',
  'day_of_year',
  'month',
  'year',
]

const period = fc.oneof(
  fc.record({ value: fc.integer({ min: 1, max: 3 }), unit: fc.constantFrom('d', 'w', 'mo', 'y') }),
  fc.record({ value: fc.integer({ min: 1, max: 100_000 }), unit: fc.constant('s') }),
  fc.record({ value: fc.integer({ min: 1, max: 30 }), unit: fc.constant('h') }),
  fc.record({ value: fc.integer({ min: 1, max: 300 }), unit: fc.constant('m') }),
)
const ofPeriod = (names: readonly string[]): fc.Arbitrary<OracleFunction> =>
  fc.tuple(fc.constantFrom(...names), period).map(([name, each]) => ({ name, ...each }))
const quantile: fc.Arbitrary<OracleFunction> = fc
  .tuple(period, fc.constantFrom(0, 0.25, 0.5, 0.95, 1))
  .map(([each, quantile]) => ({ name: 'quantile_over_time', ...each, quantile }))

/** Any one function that looks at samples. */
export const windowFunction: fc.Arbitrary<OracleFunction> = fc.oneof(
  { arbitrary: ofPeriod([...EXACT, ...INEXACT]), weight: 12 },
  { arbitrary: quantile, weight: 1 },
)

const bound = fc.integer({ min: -500, max: 1500 })
const exactFunction: fc.Arbitrary<OracleFunction> = fc.oneof(
  { arbitrary: ofPeriod(EXACT), weight: 6 },
  {
    arbitrary: fc.constantFrom('abs', 'ceil', 'floor', 'round', ...CALENDAR).map((name) => ({ name })),
    weight: 4,
  },
  {
    arbitrary: fc
      .tuple(fc.constantFrom('topk', 'bottomk'), fc.integer({ min: 1, max: 3 }))
      .map(([name, value]) => ({ name, value })),
    weight: 2,
  },
  {
    arbitrary: fc
      .tuple(fc.constantFrom('clamp_min', 'clamp_max'), bound)
      .map(([name, value]) => ({ name, value })),
    weight: 2,
  },
)
/** The last of a chain may be inexact; powers of e are kept from growing beyond all digits. */
const lastFunctions: fc.Arbitrary<readonly OracleFunction[]> = fc.oneof(
  fc.constant([]),
  ofPeriod(INEXACT).map((each) => [each]),
  quantile.map((each) => [each]),
  fc.constantFrom('sqrt', 'ln', 'log2', 'log10').map((name) => [{ name }]),
  fc.constant([{ name: 'clamp_max', value: 5 }, { name: 'exp' }]),
)

const selector: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { arbitrary: fc.constant({}), weight: 4 },
  {
    arbitrary: fc.constantFrom(
      { chain: '1' },
      { chain: '!=1' },
      { pool: '=~a|c' },
      { pool: '!~[bd]', chain: '=~.*' },
      { pool: '' },
      { venue: '!=x', pool: 'a' },
    ),
    weight: 2,
  },
)
const aggregate = fc.option(
  fc.record({
    op: fc.constantFrom('AVG', 'SUM', 'MIN', 'MAX', 'COUNT'),
    grouping: fc.constantFrom<string[]>([], ['chain'], ['pool'], ['chain', 'pool'], ['venue']),
  }),
  { nil: null },
)

interface Chosen {
  readonly query: Omit<OracleQuery, 'id'>
  readonly isExact: boolean
}

function query(metrics: readonly string[]): fc.Arbitrary<Chosen> {
  return fc
    .record({
      metric: fc.constantFrom(...metrics),
      selector,
      chain: fc.array(exactFunction, { maxLength: 3 }),
      last: lastFunctions,
      aggregate,
    })
    .map(({ metric, selector, chain, last, aggregate }) => ({
      query: { metric, selector, functions: [...chain, ...last], aggregate },
      isExact: last.length === 0 && aggregate?.op !== 'AVG',
    }))
}

const digit = fc.integer({ min: 0, max: 9 }).map((value): OracleFormula => ({ kind: 'number', value }))

/** A formula over ids; `exact` are those of whole numbers. */
function formula(ids: readonly string[], exact: readonly string[]): fc.Arbitrary<OracleFormula> {
  const leaf = (names: readonly string[]): fc.Arbitrary<OracleFormula> =>
    fc.oneof(
      {
        arbitrary: digit,
        weight: 1,
      },
      ...(names.length === 0
        ? []
        : [
            {
              arbitrary: fc.constantFrom(...names).map((id): OracleFormula => ({ kind: 'id', id })),
              weight: 3,
            },
          ]),
    )
  const call = (names: readonly string[], of: fc.Arbitrary<OracleFormula>, most: number) =>
    fc
      .tuple(fc.constantFrom(...names), fc.array(of, { minLength: 1, maxLength: most }))
      .map(([name, of]): OracleFormula => ({ kind: 'call', name, of }))
  const binary = (
    operators: readonly ('+' | '-' | '*' | '/' | '^')[],
    left: fc.Arbitrary<OracleFormula>,
    right: fc.Arbitrary<OracleFormula>,
  ) =>
    fc
      .tuple(fc.constantFrom(...operators), left, right)
      .map(([operator, left, right]): OracleFormula => ({ kind: 'binary', operator, left, right }))
  const minus = (of: fc.Arbitrary<OracleFormula>) => of.map((of): OracleFormula => ({ kind: 'minus', of }))
  const { whole } = fc.letrec<{ whole: OracleFormula }>((tie) => ({
    whole: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      leaf(exact),
      binary(['+', '-'], tie('whole'), tie('whole')),
      binary(['*'], tie('whole'), digit),
      binary(['*'], digit, tie('whole')),
      minus(tie('whole')),
      call(['abs', 'ceil', 'floor', 'round'], tie('whole'), 1),
      call(['min', 'max', 'sum', 'count'], tie('whole'), 3),
    ),
  }))
  const { any } = fc.letrec<{ any: OracleFormula }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      fc.oneof(leaf(ids), whole),
      binary(['+', '-'], tie('any'), tie('any')),
      binary(['*'], tie('any'), whole),
      binary(['/'], whole, whole),
      binary(['*'], whole, whole),
      binary(['^'], whole, fc.oneof(digit, binary(['^'], digit, digit))),
      binary(['^'], digit, minus(digit)),
      call(['sqrt', 'ln', 'log2', 'log10'], whole, 1),
      call(['avg'], whole, 3),
      call(['min', 'max', 'sum', 'avg'], tie('any'), 2),
      minus(tie('any')),
    ),
  }))
  return any
}

/** Where requests may ask. */
export interface RequestBounds {
  readonly metrics: readonly string[]
  readonly firstMs: number
  readonly lastMs: number
  readonly zones: readonly string[]
}

/** A range within 20 days, on steps that divide the day, that do not, and on those of the calendar. */
export function timeRanges({ firstMs, lastMs, zones }: Omit<RequestBounds, 'metrics'>) {
  return fc
    .record({
      startMs: fc.integer({ min: firstMs - 86_400_000, max: lastMs }),
      lengthMs: fc.integer({ min: 0, max: 20 * 86_400_000 }),
      stepSeconds: fc.constantFrom(1800, 3600, 5000, 7200, 43_200, 50_000, 86_400, 604_800, 2_592_000),
      timezone: fc.constantFrom(...zones),
    })
    .map(({ startMs, lengthMs, ...rest }) => ({ startMs, endMs: startMs + lengthMs, ...rest }))
}

/** A request of up to three queries and two formulas, the second over the first. */
export function requests(bounds: RequestBounds): fc.Arbitrary<OracleRequest> {
  return fc
    .tuple(timeRanges(bounds), fc.array(query(bounds.metrics), { minLength: 1, maxLength: 3 }))
    .chain(([range, chosen]) => {
      const queries = chosen.map(({ query }, i) => ({ id: 'abc'[i] ?? '', ...query }))
      const ids = queries.map(({ id }) => id)
      const exact = ids.filter((_, i) => chosen[i]?.isExact)
      const functions = fc.oneof(
        { arbitrary: fc.constant([]), weight: 3 },
        { arbitrary: windowFunction.map((each) => [each]), weight: 1 },
      )
      const make = (id: string, known: readonly string[]): fc.Arbitrary<OracleFormulaQuery> =>
        fc.record({ id: fc.constant(id), formula: formula(known, exact), functions })
      return fc
        .oneof(fc.constant([]), fc.tuple(make('f', ids)), fc.tuple(make('f', ids), make('g', [...ids, 'f'])))
        .map((formulas): OracleRequest => ({ ...range, queries, formulas }))
    })
}

/** The request as a client sends it. */
export function toWire({
  startMs,
  endMs,
  stepSeconds,
  timezone,
  queries,
  formulas,
}: OracleRequest): QueryRangeRequest {
  return {
    timeRange: { start: startMs, end: endMs, step: stepSeconds, timezone },
    queries: queries.map(({ id, metric, selector, functions, aggregate }) => ({
      id,
      query: metric,
      labelSelector: selector,
      functions: functions.map(functionToWire),
      ...(aggregate ? { aggregate: { op: aggregate.op, grouping: [...aggregate.grouping] } } : {}),
    })),
    formulas: formulas.map(({ id, formula, functions }) => ({
      id,
      expression: formulaText(formula),
      functions: functions.map(functionToWire),
    })),
  }
}

/** Functions of a number take `doubleValue`, those that rank `intValue`. */
export function functionToWire({ name, value, unit, quantile }: OracleFunction) {
  const number = name.endsWith('k') ? 'intValue' : 'doubleValue'
  const last =
    value === undefined
      ? []
      : unit === undefined
        ? [{ [number]: value }]
        : [{ durationValue: { value, unit } }]
  return { name, arguments: [...(quantile === undefined ? [] : [{ doubleValue: quantile }]), ...last] }
}
