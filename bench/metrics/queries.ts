import { END_MS } from './data-set.ts'

/** A query in our own terms and in MetricsQL and PromQL where those can say the same. */
export interface BenchQuery {
  readonly name: string
  readonly days: number
  readonly stepSeconds: number
  readonly timezone?: string
  /** The body's `queries` and `formulas`. */
  readonly ours: object
  readonly metricsQl?: string
  readonly promQl?: string
  /** Does PromQL's answer agree to the digit? Its rate extrapolates. */
  readonly isPromQlExact?: boolean
  /** How large the operands of a difference are. */
  readonly operands?: number
  /** Aims against VictoriaMetrics without its cache: how many times as fast at one client. */
  readonly aim?: number
  /** What peers without time zones are asked instead, one after the other: a range for each offset. */
  readonly inParts?: readonly PeerPart[]
}

/** A part of a query on a grid of its own. */
export interface PeerPart {
  readonly startMs: number
  readonly endMs: number
  readonly expression: string
}

/** Days of Los Angeles in the range: with summer time, the day of 25 hours on which it ends, and those after it. */
const DAYS_IN_PARTS: readonly PeerPart[] = [
  { startMs: Date.UTC(2025, 9, 5, 7), endMs: Date.UTC(2025, 10, 1, 7), window: '24h' },
  { startMs: Date.UTC(2025, 10, 2, 7), endMs: Date.UTC(2025, 10, 2, 7), window: '25h' },
  { startMs: Date.UTC(2025, 10, 3, 8), endMs: Date.UTC(2025, 10, 18, 8), window: '24h' },
].map(({ window, ...range }) => ({
  ...range,
  expression: `sum_over_time(gauge_a[${window}] offset -${window})`,
}))

const period = (value: number, unit: string) => [{ durationValue: { value, unit } }]
const call = (name: string, value: number, unit: string) => ({ name, arguments: period(value, unit) })

/** A function of a window `[t, t + d)` in PromQL, whose windows are `(t − d, t]`; no sample lies on an edge. */
const ahead = (name: string, metric: string, window: string) =>
  `${name}(${metric}[${window}] offset -${window})`

/** The queries of the comparison. All answer on the same grid, below 1000 points. */
export const BENCH_QUERIES: readonly BenchQuery[] = [
  {
    name: 'Q1 rollup_sum(1d), 30 d/1 h',
    days: 30,
    stepSeconds: 3600,
    ours: { queries: [{ id: 'a', query: 'gauge_a', functions: [call('rollup_sum', 1, 'd')] }] },
    metricsQl: ahead('sum_over_time', 'gauge_a', '1d'),
    promQl: ahead('sum_over_time', 'gauge_a', '1d'),
    isPromQlExact: true,
    aim: 4,
  },
  {
    name: 'Q2 rate(5m), 1 d/2 min',
    days: 1,
    stepSeconds: 120,
    ours: { queries: [{ id: 'a', query: 'counter_c', functions: [call('rate', 5, 'm')] }] },
    // MetricsQL divides its rate by the distance of samples; its increase counts them all, as ours does.
    metricsQl: 'increase(counter_c[5m]) / 300',
    promQl: 'rate(counter_c[5m])',
    aim: 1,
  },
  {
    name: 'Q3 rate(5m) summed by a label, 1 d/2 min',
    days: 1,
    stepSeconds: 120,
    ours: {
      queries: [
        {
          id: 'a',
          query: 'counter_c',
          functions: [call('rate', 5, 'm')],
          aggregate: { op: 'SUM', grouping: ['group'] },
        },
      ],
    },
    metricsQl: 'sum(increase(counter_c[5m]) / 300) by (group)',
    promQl: 'sum(rate(counter_c[5m])) by (group)',
    aim: 1,
  },
  {
    name: 'Q4 topk(5) of avg_over_time(1h), 7 d/1 h',
    days: 7,
    stepSeconds: 3600,
    ours: {
      queries: [
        {
          id: 'a',
          query: 'gauge_a',
          functions: [call('avg_over_time', 1, 'h'), { name: 'topk', arguments: [{ intValue: 5 }] }],
        },
      ],
    },
    metricsQl: 'topk(5, avg_over_time(gauge_a[1h]))',
    promQl: 'topk(5, avg_over_time(gauge_a[1h]))',
    isPromQlExact: true,
    aim: 1,
  },
  {
    name: 'Q5 sum(a) − sum(b) of rollup_sum(1d), 30 d/1 h',
    days: 30,
    stepSeconds: 3600,
    ours: {
      queries: ['a', 'b'].map((id) => ({
        id,
        query: `gauge_${id}`,
        disabled: true,
        functions: [call('rollup_sum', 1, 'd')],
        aggregate: { op: 'SUM' },
      })),
      formulas: [{ id: 'c', expression: 'a - b' }],
    },
    operands: 1.5e8,
    metricsQl: `sum(${ahead('sum_over_time', 'gauge_a', '1d')}) - sum(${ahead('sum_over_time', 'gauge_b', '1d')})`,
    promQl: `sum(${ahead('sum_over_time', 'gauge_a', '1d')}) - sum(${ahead('sum_over_time', 'gauge_b', '1d')})`,
    isPromQlExact: true,
    aim: 4,
  },
  {
    name: 'Q6 max_over_time(1h), 40 d/1 h',
    days: 40,
    stepSeconds: 3600,
    ours: { queries: [{ id: 'a', query: 'gauge_a', functions: [call('max_over_time', 1, 'h')] }] },
    metricsQl: 'max_over_time(gauge_a[1h])',
    promQl: 'max_over_time(gauge_a[1h])',
    isPromQlExact: true,
    aim: 4,
  },
  {
    name: 'Q7 last value, 30 d/1 h',
    days: 30,
    stepSeconds: 3600,
    ours: { queries: [{ id: 'a', query: 'gauge_a' }] },
    metricsQl: 'gauge_a',
    promQl: 'gauge_a',
    isPromQlExact: true,
    aim: 1,
  },
  {
    name: 'Q8 sum by a label of 10 000 series, 1 d/5 min',
    days: 1,
    stepSeconds: 300,
    ours: { queries: [{ id: 'a', query: 'wide', aggregate: { op: 'SUM', grouping: ['group'] } }] },
    metricsQl: 'sum(wide) by (group)',
    promQl: 'sum(wide) by (group)',
    isPromQlExact: true,
    aim: 1,
  },
  {
    name: 'Q9 Q1 of one series',
    days: 30,
    stepSeconds: 3600,
    ours: {
      queries: [
        {
          id: 'a',
          query: 'gauge_a',
          labelSelector: { series: '7' },
          functions: [call('rollup_sum', 1, 'd')],
        },
      ],
    },
    metricsQl: ahead('sum_over_time', 'gauge_a{series="7"}', '1d'),
    promQl: ahead('sum_over_time', 'gauge_a{series="7"}', '1d'),
    isPromQlExact: true,
    aim: 1,
  },
  {
    name: 'Q10 days of Los Angeles, 45 d',
    days: 45,
    stepSeconds: 86_400,
    timezone: 'America/Los_Angeles',
    ours: { queries: [{ id: 'a', query: 'gauge_a', functions: [call('rollup_sum', 1, 'd')] }] },
    inParts: DAYS_IN_PARTS,
    isPromQlExact: true,
  },
  {
    name: 'Q11 running total, 40 d/1 h',
    days: 40,
    stepSeconds: 3600,
    ours: { queries: [{ id: 'a', query: 'counter_c' }] },
    metricsQl: 'counter_c',
    promQl: 'counter_c',
    isPromQlExact: true,
  },
]

/** The range of a query. Windows that look ahead see data up to the end of the range, so the range ends a day before the data. */
export function rangeOf({ days, stepSeconds }: BenchQuery): {
  readonly startMs: number
  readonly endMs: number
} {
  const endMs = stepSeconds < 3600 ? END_MS : END_MS - 86_400_000
  return { startMs: endMs - days * 86_400_000, endMs }
}

/** The body of `query_range`, cache off. */
export function requestOf(query: BenchQuery): object {
  const { startMs, endMs } = rangeOf(query)
  const { stepSeconds: step, timezone } = query
  return {
    ...query.ours,
    timeRange: { start: startMs, end: endMs, step, ...(timezone === undefined ? {} : { timezone }) },
    cachePolicy: { noCache: true },
  }
}
