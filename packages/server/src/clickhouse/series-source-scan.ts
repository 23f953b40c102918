import type { CellStatistic, MetricType } from '../metrics/series-source.ts'
import type { CellExpression } from './series-source-cell.ts'
import {
  cellSpans,
  HOURLY_HISTORY,
  HOURLY_TIME,
  hourlyBounds,
  hourlyStatistic,
  PLACE,
  type CellSpan,
} from './series-source-rollup.ts'
import { isHourEdge } from '../metrics/hour-edges.ts'
import type { Snapshot } from '../cache/snapshot.ts'
import { ofSnapshot } from './snapshot-condition.ts'

/** What one statement reads of the points of one metric. */
export interface Scan {
  readonly type: MetricType
  /** Decimal digits each; null is all series of the metric. */
  readonly seriesIds: readonly string[] | null
  readonly edges: Float64Array
  readonly cell: CellExpression
  /** The columns after series, cell and count, in order. */
  readonly columns: readonly CellStatistic[]
  readonly needsHistory: boolean
  readonly needsSamples: boolean
  /** May hours stand for their samples? */
  readonly usesHours: boolean
  /** Null reads all that is there. */
  readonly snapshot: Snapshot | null
}

/** The key of the row that stands for everything before the first edge; its first statistics are the value then and its time. */
export const HISTORY_KEY = -1
/** More stretches than this are read as samples altogether. */
const MAX_SPANS = 200

const IN_ORDER = 'arraySort((value, place) -> place, groupArray(value), groupArray(place))'
const TIMES_IN_ORDER = 'arraySort(groupArray(t))'
const TOTALS = `arrayCumSum(${IN_ORDER})`
/** The place among a cell's samples of the last one with an earlier time than the last; 0 where there is none. */
const PREVIOUS = `indexOf(${TIMES_IN_ORDER}, max(t)) - 1`

/**
 * A cell's statistics; a counter's values are totals from the start of the cell, to which the total before it is added
 * afterwards. Kahan sums, so that a result does not depend on how the engine splits the work.
 */
const STATISTICS = {
  gauge: {
    sum: 'sumKahan(value)',
    min: 'min(value)',
    max: 'max(value)',
    first: 'argMin(value, place)',
    last: 'argMax(value, place)',
    change: 'toFloat64(0)',
    rise: `arraySum(arrayMap(change -> greatest(change, 0), arrayDifference(${IN_ORDER})))`,
    squares: 'varPopStable(value) * count()',
    lastAt: 'max(t)',
    previous: `arrayElement(${IN_ORDER}, ${PREVIOUS})`,
    previousAt: `if(min(t) = max(t), nan, arrayElement(${TIMES_IN_ORDER}, ${PREVIOUS}))`,
  },
  counter: {
    sum: `arraySum(${TOTALS})`,
    min: `arrayMin(${TOTALS})`,
    max: `arrayMax(${TOTALS})`,
    first: 'argMin(value, place)',
    last: 'sumKahan(value)',
    change: 'sumKahan(value)',
    rise: 'sumKahanIf(value, value > 0)',
    squares: `arrayReduce('varPopStable', ${TOTALS}) * count()`,
    lastAt: 'max(t)',
    previous: `arrayElement(${TOTALS}, ${PREVIOUS})`,
    previousAt: `if(min(t) = max(t), nan, arrayElement(${TIMES_IN_ORDER}, ${PREVIOUS}))`,
  },
} as const satisfies Record<MetricType, Record<CellStatistic, string>>

/** A statement, and which of its rows stand for samples that were not read. */
export interface ScanStatement {
  readonly sql: string
  readonly readsSamples: boolean
  /** Stretches of cells. */
  readonly spans: readonly CellSpan[]
  readonly isHistoryHourly: boolean
}

/** The statement of a scan; empty where there is nothing to read. */
export function scanSql(scan: Scan): ScanStatement {
  const { edges, needsHistory } = scan
  const statements: string[] = []
  const spans = spansOf(scan)
  const [hourly, sampled] = [
    spans.filter(({ isHourly }) => isHourly),
    spans.filter(({ isHourly }) => !isHourly),
  ]
  if (hourly.length > 0) statements.push(hoursSql(scan, hourly))
  if (sampled.length > 0) statements.push(scan.needsSamples ? samplesSql(scan) : cellsSql(scan, sampled))
  const [first = 0] = edges
  const isHistoryHourly = scan.usesHours && isHourEdge(first) && first <= hoursUntil(scan)
  if (needsHistory) statements.push(isHistoryHourly ? hourlyHistorySql(scan) : historySql(scan))
  return {
    sql: statements.join('\nunion all\n'),
    readsSamples: sampled.length > 0 || (needsHistory && !isHistoryHourly),
    spans,
    isHistoryHourly: needsHistory && isHistoryHourly,
  }
}

function spansOf(scan: Scan): readonly CellSpan[] {
  const { type, edges, columns, needsSamples, usesHours } = scan
  if (edges.length < 2) return []
  const whole = [{ first: 0, end: edges.length - 1, isHourly: false }]
  const areHoursEnough =
    usesHours && !needsSamples && columns.every((column) => hourlyStatistic(type, column) !== undefined)
  if (!areHoursEnough) return whole
  const spans = cellSpans(edges, hoursUntil(scan))
  return spans.length > MAX_SPANS ? whole : spans
}

/** Hours know of no batches: where some are to be left out, they cannot stand for samples. */
function hoursUntil({ snapshot }: Scan): number {
  return snapshot?.fromMicros ?? Infinity
}

/** How many statistics a row has; at least two, for the history. */
export function rowWidth({ columns }: Pick<Scan, 'columns'>): number {
  return Math.max(columns.length, 2)
}

function padded(scan: Scan, statistics: readonly string[]): string {
  const all = statistics.map((sql) => `toFloat64(${sql})`)
  while (all.length < rowWidth(scan)) all.push('toFloat64(0)')
  return all.join(', ')
}

function cellsSql(scan: Scan, spans: readonly CellSpan[]): string {
  const statistics = scan.columns.map((statistic) => STATISTICS[scan.type][statistic])
  const within = spans.map(({ first, end }) => timeBounds(scan.edges[first] ?? 0, scan.edges[end] ?? 0))
  return `select series_id, key, toFloat64(count()), ${padded(scan, statistics)}
from (
  select series_id, value, ${PLACE} as place, toUnixTimestamp64Micro(timestamp) as t, toInt64(${scan.cell.sql}) as key
  from points
  where ${samplesOf(scan)} and (${within.join(' or ')})
)
group by series_id, key`
}

function hoursSql(scan: Scan, spans: readonly CellSpan[]): string {
  const statistics = scan.columns.map((statistic) => hourlyStatistic(scan.type, statistic) ?? '0')
  const within = spans.map(
    ({ first, end }) => `(${hourlyBounds(scan.edges[first] ?? 0, scan.edges[end] ?? 0)})`,
  )
  return `select series_id, toInt64(${scan.cell.sqlOf(HOURLY_TIME)}) as key, toFloat64(${HOURLY_HISTORY.count}), ${padded(scan, statistics)}
from points
where ${pointsOf(scan)} and (${within.join(' or ')})
group by series_id, key`
}

/** One row a sample; the first statistic is its value, of a counter the total since the first edge. */
function samplesSql(scan: Scan): string {
  const value =
    scan.type === 'gauge'
      ? 'value'
      : `sum(value) over (partition by series_id order by ${PLACE} rows unbounded preceding)`
  const last = scan.edges.at(-1) ?? 0
  return `select series_id, toInt64(${scan.cell.sqlOf('toUnixTimestamp64Micro(timestamp)')}) as key, toFloat64(1), ${padded(scan, [value])}
from points
where ${samplesOf(scan)} and ${timeBounds(scan.edges[0] ?? 0, last)}`
}

function historySql(scan: Scan): string {
  const value = { gauge: `argMax(value, ${PLACE})`, counter: 'sumKahan(value)' }[scan.type]
  return `select series_id, toInt64(${HISTORY_KEY}) as key, toFloat64(count()), ${padded(scan, [value, 'max(toUnixTimestamp64Micro(timestamp))'])}
from points
where ${samplesOf(scan)} and ${bound(scan.edges[0] ?? 0, '<')}
group by series_id`
}

function hourlyHistorySql(scan: Scan): string {
  const { count, value, lastAt } = HOURLY_HISTORY
  return `select series_id, toInt64(${HISTORY_KEY}) as key, toFloat64(${count}), ${padded(scan, [value[scan.type], lastAt])}
from points
where ${pointsOf(scan)} and ${hourlyBounds(null, scan.edges[0] ?? 0)}
group by series_id`
}

/** Ids are digits that came from the engine; a parameter could not carry thousands of them in an address. */
function pointsOf({ seriesIds }: Scan): string {
  const ofSeries = seriesIds ? ` and series_id in (${seriesIds.join(', ')})` : ''
  return `metric = {metric:String}${ofSeries}`
}

function samplesOf(scan: Scan): string {
  return `${pointsOf(scan)} and isFinite(value)${ofSnapshot(scan.snapshot, 'batch')}`
}

/**
 * The sort key holds toStartOfDay, a 32-bit time that is wrong outside 1970 to 2105: bounds beyond are compared
 * as numbers, which the key does not prune by.
 */
const KEY_FIRST_MICROS = Date.UTC(1970, 0, 3) * 1000
const KEY_LAST_MICROS = Date.UTC(2105, 0, 1) * 1000

/** The condition of a time in `[from, to)`, in a form that the sort key prunes by where it can. */
export function timeBounds(from: number, to: number): string {
  return `(${bound(from, '>=')} and ${bound(to, '<')})`
}

function bound(micros: number, comparison: '>=' | '<'): string {
  const isKeyed = micros >= KEY_FIRST_MICROS && micros <= KEY_LAST_MICROS
  return isKeyed
    ? `timestamp ${comparison} fromUnixTimestamp64Micro(toInt64(${micros}), 'UTC')`
    : `toUnixTimestamp64Micro(timestamp) ${comparison} ${micros}`
}
