/** A query of this service and the same in the words of others; `differs` says why another's answer is no other way to say it. */
export interface ComparedCase {
  readonly name: string
  readonly query: object
  readonly promQl?: string
  /** Absent: as `promQl`. */
  readonly metricsQl?: string
  readonly differs?: { readonly Prometheus?: string; readonly VictoriaMetrics?: string }
}

const period = (value: number, unit: string) => ({ durationValue: { value, unit } })
const call = (name: string, ...args: object[]) => ({ name, arguments: args })
/** What the value of a series is to this service: its last sample, however old. */
const carried = (metric: string) => `last_over_time(${metric}[10y])`

const OVER_TIME = ['avg', 'sum', 'min', 'max', 'count', 'last', 'stddev'].map((name): ComparedCase => ({
  name: `${name}_over_time(1h)`,
  query: { query: 'price', functions: [call(`${name}_over_time`, period(1, 'h'))] },
  promQl: `${name}_over_time(price[1h])`,
}))

const ROLLUPS = ['avg', 'sum', 'min', 'max', 'count', 'last'].map((name): ComparedCase => ({
  name: `rollup_${name}(1h)`,
  query: { query: 'price', functions: [call(`rollup_${name}`, period(1, 'h'))] },
  promQl: `${name}_over_time(price[1h] offset -1h)`,
}))

const POINTWISE = ['abs', 'ceil', 'floor', 'round', 'sqrt', 'exp', 'ln', 'log2', 'log10'].map(
  (name): ComparedCase => ({
    name: `${name}()`,
    query: { query: 'price', functions: [call(name)] },
    promQl: `${name}(${carried('price')})`,
  }),
)

const CALENDAR = ['minute', 'hour', 'day_of_month', 'month', 'year'].map((name): ComparedCase => ({
  name: `${name}()`,
  query: { query: 'price', functions: [call(name)] },
  promQl: `${name}(${carried('price')} * 0 + time())`,
}))

const AGGREGATES = ['sum', 'avg', 'min', 'max', 'count'].map((op): ComparedCase => ({
  name: `${op} by (chain)`,
  query: { query: 'price', aggregate: { op: op.toUpperCase(), grouping: ['chain'] } },
  promQl: `${op} by (chain) (${carried('price')})`,
}))

const EXTRAPOLATES = 'extrapolates to the edges of the window; here nothing is'
const PER_SAMPLES = 'divides by the time between the samples; here by the length of the window'

/** All cases, those whose definitions agree and those whose do not. */
export const CASES: readonly ComparedCase[] = [
  { name: 'the value of a gauge', query: { query: 'price' }, promQl: carried('price') },
  { name: 'the value of a counter', query: { query: 'swaps' }, promQl: carried('swaps') },
  ...OVER_TIME,
  {
    name: 'first_over_time(1h)',
    query: { query: 'price', functions: [call('first_over_time', period(1, 'h'))] },
    metricsQl: 'first_over_time(price[1h])',
  },
  {
    name: 'quantile_over_time(0.9, 1h)',
    query: { query: 'price', functions: [call('quantile_over_time', { doubleValue: 0.9 }, period(1, 'h'))] },
    promQl: 'quantile_over_time(0.9, price[1h])',
  },
  ...ROLLUPS,
  {
    name: 'delta_over_time(1h) of a gauge',
    query: { query: 'price', functions: [call('delta_over_time', period(1, 'h'))] },
    promQl: 'delta(price[1h])',
    differs: { Prometheus: EXTRAPOLATES },
  },
  {
    name: 'delta_over_time(1h) of a counter',
    query: { query: 'swaps', functions: [call('delta_over_time', period(1, 'h'))] },
    promQl: 'increase(swaps[1h])',
    differs: { Prometheus: EXTRAPOLATES },
  },
  {
    name: 'increase(1h) of what only grows',
    query: { query: 'supply', functions: [call('increase', period(1, 'h'))] },
    promQl: 'increase(supply[1h])',
    differs: { Prometheus: EXTRAPOLATES },
  },
  {
    name: 'rate(1h)',
    query: { query: 'supply', functions: [call('rate', period(1, 'h'))] },
    promQl: 'rate(supply[1h])',
    differs: { Prometheus: EXTRAPOLATES, VictoriaMetrics: PER_SAMPLES },
  },
  {
    name: 'irate(1h)',
    query: { query: 'supply', functions: [call('irate', period(1, 'h'))] },
    promQl: 'irate(supply[1h])',
  },
  {
    name: 'before(1h)',
    query: { query: 'price', functions: [call('before', period(1, 'h'))] },
    promQl: `last_over_time(price[10y] offset 1h)`,
  },
  {
    name: 'after(1h)',
    query: { query: 'price', functions: [call('after', period(1, 'h'))] },
    promQl: `last_over_time(price[10y] offset -1h)`,
  },
  ...POINTWISE,
  {
    name: 'clamp_min(105)',
    query: { query: 'price', functions: [call('clamp_min', { doubleValue: 105 })] },
    promQl: `clamp_min(${carried('price')}, 105)`,
  },
  {
    name: 'clamp_max(105)',
    query: { query: 'price', functions: [call('clamp_max', { doubleValue: 105 })] },
    promQl: `clamp_max(${carried('price')}, 105)`,
  },
  ...CALENDAR,
  {
    name: 'day_of_week()',
    query: { query: 'price', functions: [call('day_of_week')] },
    promQl: `day_of_week(${carried('price')} * 0 + time())`,
  },
  {
    name: 'timestamp()',
    query: { query: 'price', functions: [call('timestamp')] },
    promQl: `timestamp(price)`,
    differs: {
      Prometheus:
        'is the time of the sample, or of the point where the value is computed; here always of the point',
      VictoriaMetrics: 'is the time of the sample; here of the point',
    },
  },
  {
    name: 'topk(2)',
    query: { query: 'price', functions: [call('topk', { intValue: 2 })] },
    promQl: `topk(2, ${carried('price')})`,
    differs: {
      Prometheus: 'cuts at each point; here a series that ranks anywhere stays whole',
      VictoriaMetrics: 'cuts at each point; here a series that ranks anywhere stays whole',
    },
  },
  ...AGGREGATES,
  {
    name: 'a label selector',
    query: { query: 'price', labelSelector: { pool: '=~p1.*', chain: '!=56' } },
    promQl: `last_over_time(price{pool=~"p1.*", chain!="56"}[10y])`,
  },
  {
    name: 'a window, then sum by (chain)',
    query: {
      query: 'swaps',
      functions: [call('delta_over_time', period(1, 'h'))],
      aggregate: { op: 'SUM', grouping: ['chain'] },
    },
    promQl: 'sum by (chain) (increase(swaps[1h]))',
    differs: { Prometheus: EXTRAPOLATES },
  },
]

/** Formulas of `a`, the price, and `b`, the supply. */
export const FORMULAS = [
  { expression: 'a + b', of: (a: string, b: string) => `${a} + ${b}` },
  { expression: 'a / b * 100', of: (a: string, b: string) => `${a} / ${b} * 100` },
  { expression: 'sum(a) - avg(b)', of: (a: string, b: string) => `sum(${a}) - avg(${b})` },
  { expression: 'a ^ 2 - -1', of: (a: string) => `${a} ^ 2 - -1` },
].map(({ expression, of }) => ({ expression, promQl: of(carried('price'), carried('supply')) }))
