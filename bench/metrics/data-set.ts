/** One metric of the data set: `series` times one sample every minute, or every so many minutes, up to `END_MS`. */
export interface BenchMetric {
  readonly name: string
  readonly type: 'gauge' | 'counter'
  readonly series: number
  readonly hours: number
  readonly everyMinutes?: number
}

/** The end of all data; clocks change in Los Angeles 18 days earlier. */
export const END_MS = Date.UTC(2025, 10, 20)
/** Series of a metric are spread over so many values of the label `group`. */
export const GROUPS = 10

/** 3 metrics × 100 series × 45 days and 1 × 10 000 series × 24 hours, one sample a minute; `scale` takes that share of the series. */
export function benchMetrics(scale: number): readonly BenchMetric[] {
  const share = (series: number) => Math.max(GROUPS, Math.round(series * scale))
  return [
    { name: 'gauge_a', type: 'gauge', series: share(100), hours: 45 * 24 },
    { name: 'gauge_b', type: 'gauge', series: share(100), hours: 45 * 24 },
    { name: 'counter_c', type: 'counter', series: share(100), hours: 45 * 24 },
    { name: 'wide', type: 'gauge', series: share(10_000), hours: 24 },
  ]
}

/** How long the longest curve looks back. */
const YEAR_DAYS = 365
/** How far the samples of the year of 10 000 series are apart. */
export const BROAD_MINUTES = 360
const YEAR_HOURS = (YEAR_DAYS + 1) * 24

/**
 * What the curves alone need; peers are not asked for it. A year of 10 000 series with a sample every six hours, 15 million; of ten with one a
 * minute; and 45 days of a hundred with one every ten minutes, to tell what a query costs by its samples.
 */
export function curveMetrics(scale: number): readonly BenchMetric[] {
  const series = Math.max(GROUPS, Math.round(10_000 * scale))
  return [
    { name: 'year', type: 'gauge', series: 10, hours: YEAR_HOURS },
    { name: 'sparse', type: 'gauge', series: 100, hours: 45 * 24, everyMinutes: 10 },
    { name: 'broad', type: 'gauge', series, hours: YEAR_HOURS, everyMinutes: BROAD_MINUTES },
  ]
}

/** How many samples a metric has. */
export function samplesOf({ series, hours, everyMinutes = 1 }: BenchMetric): number {
  return (series * hours * 60) / everyMinutes
}

function startSeconds({ hours }: BenchMetric): number {
  return END_MS / 1000 - hours * 3600
}

/**
 * The samples of hours `[from, to)` since the metric's first, as rows of series, minute, second and value: each some
 * seconds after its minute, like block times, never on it, so that windows open at either end hold the same.
 */
function rows(metric: BenchMetric, from: number, to: number): string {
  const { name, type, series, everyMinutes = 1 } = metric
  const samples = ((to - from) * 60) / everyMinutes
  const noise = `cityHash64('${name}', series, minute)`
  const wave = `200 * sin(2 * pi() * (minute / 1440 + series / ${series}))`
  const value =
    type === 'counter' ? `toFloat64(${noise} % 1000)` : `round(1000 + ${wave} + (${noise} % 2000) / 100, 2)`
  return `select intDiv(number, ${samples}) as series, ${from * 60} + ${everyMinutes} * (number % ${samples}) as minute,
    ${startSeconds(metric)} + 60 * minute + 1 + ${noise} % 11 as second, ${value} as value
  from numbers(${series * samples})`
}

const SERIES_ID = (name: string) => `sipHash64('${name}', series)`

/** Inserts the series of a metric in the shape in which ingest stores them. */
export function seriesInsert(facts: string, { name, type, series }: BenchMetric): string {
  return `insert into ${facts}.series (metric, series_id, type, chain, labels)
select '${name}', ${SERIES_ID(name)}, '${type}', '1', map('chain', '1', 'group', toString(series % ${GROUPS}), 'series', toString(series))
from (select number as series from numbers(${series}))`
}

/** Inserts a stretch of hours as one batch, in the shape in which ingest stores samples of interval handlers. */
export function pointsInsert(
  facts: string,
  metric: BenchMetric,
  from: number,
  to: number,
  batch: number,
): string {
  return `insert into ${facts}.points (metric, series_id, timestamp, value, exact, chain, block_number, ordinal, batch)
select '${metric.name}', ${SERIES_ID(metric.name)}, fromUnixTimestamp64Micro(toInt64(second * 1000000), 'UTC'), value, '', '1', intDiv(second, 12), series, ${batch}
from (${rows(metric, from, to)})`
}

/** All samples as lines of the Prometheus text format, series by series, with times in `seconds` or `milliseconds`; counters as totals. */
export function linesQuery(metric: BenchMetric, unit: 'seconds' | 'milliseconds'): string {
  const total = metric.type === 'counter' ? 'sum(value) over (partition by series order by minute)' : 'value'
  const time = unit === 'seconds' ? 'second' : 'second * 1000'
  return `select concat('${metric.name}{chain="1",group="', toString(series % ${GROUPS}), '",series="', toString(series), '"} ', toString(${total}), ' ', toString(${time}))
from (${rows(metric, 0, metric.hours)}) ${metric.type === 'counter' ? '' : 'order by series, minute'}`
}
