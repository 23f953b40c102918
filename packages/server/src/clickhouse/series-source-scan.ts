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
import { NO_SUM, RISE, SUM } from './fixed-point.ts'
import type { ColumnKind } from './series-source-rows.ts'
import { ofSnapshot } from './snapshot-condition.ts'
import { columnsSql, havingFar, kindOf, type Statistic } from './statistic-columns.ts'

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
 * afterwards. What depends on the order of addition is added in order, so that a result does not depend on how the engine splits the work.
 */
const STATISTICS = {
  gauge: {
    sum: SUM,
    min: 'min(value)',
    max: 'max(value)',
    first: 'argMin(value, place)',
    last: 'argMax(value, place)',
    change: 'toFloat64(0)',
    rise: `arraySum(arrayMap(change -> greatest(change, 0), arrayDifference(${IN_ORDER})))`,
    squares: `arrayReduce('varPopStable', arraySort(groupArray(value))) * count()`,
    lastAt: 'max(t)',
    previous: `arrayElement(${IN_ORDER}, ${PREVIOUS})`,
    previousAt: `if(min(t) = max(t), nan, arrayElement(${TIMES_IN_ORDER}, ${PREVIOUS}))`,
  },
  counter: {
    sum: `arraySum(${TOTALS})`,
    min: `arrayMin(${TOTALS})`,
    max: `arrayMax(${TOTALS})`,
    first: 'argMin(value, place)',
    last: SUM,
    change: SUM,
    rise: RISE,
    squares: `arrayReduce('varPopStable', ${TOTALS}) * count()`,
    lastAt: 'max(t)',
    previous: `arrayElement(${TOTALS}, ${PREVIOUS})`,
    previousAt: `if(min(t) = max(t), nan, arrayElement(${TIMES_IN_ORDER}, ${PREVIOUS}))`,
  },
} as const satisfies Record<MetricType, Record<CellStatistic, Statistic>>

/** A statement, and which of its rows stand for samples that were not read. */
export interface ScanStatement {
  readonly sql: string
  readonly readsSamples: boolean
  /** Stretches of cells. */
  readonly spans: readonly CellSpan[]
  readonly isHistoryHourly: boolean
}

/** The statement of a scan; empty where there is nothing to read. With `withFar`, of groups alone whose sums are not of near numbers. */
export function scanSql(scan: Scan, withFar = false): ScanStatement {
  const { edges, needsHistory } = scan
  const statements: string[] = []
  const spans = spansOf(scan)
  const [hourly, sampled] = [
    spans.filter(({ isHourly }) => isHourly),
    spans.filter(({ isHourly }) => !isHourly),
  ]
  if (hourly.length > 0) statements.push(hoursSql(scan, hourly, withFar))
  if (sampled.length > 0)
    statements.push(scan.needsSamples ? samplesSql(scan, withFar) : cellsSql(scan, sampled, withFar))
  const [first = 0] = edges
  const isHistoryHourly = scan.usesHours && isHourEdge(first) && first <= hoursUntil(scan)
  if (needsHistory)
    statements.push(isHistoryHourly ? hourlyHistorySql(scan, withFar) : historySql(scan, withFar))
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

/** How the columns of a scan's rows come; those of the history have places of their own where no other is of their kind. */
export interface ScanColumns {
  readonly kinds: readonly ColumnKind[]
  /** The column of the value before the first edge, and that of its time; -1 where they are not read. */
  readonly before: number
  readonly beforeAt: number
}

/** Places the columns of a scan. */
export function scanColumns({ type, columns, needsHistory, needsSamples }: Scan): ScanColumns {
  const kinds = columns.map((each): ColumnKind => (needsSamples ? 'number' : kindOf(STATISTICS[type][each])))
  if (!needsHistory) return { kinds, before: -1, beforeAt: -1 }
  const place = (kind: ColumnKind, taken: number) => {
    const known = kinds.findIndex((each, column) => each === kind && column !== taken)
    return known >= 0 ? known : kinds.push(kind) - 1
  }
  const before = place(type === 'counter' ? 'sum' : 'number', -1)
  return { kinds, before, beforeAt: columns.includes('lastAt') ? place('number', before) : -1 }
}

const NOTHING = {
  number: 'toFloat64(0)',
  sum: NO_SUM,
} as const satisfies Record<ColumnKind, Statistic>

/** The columns of a row, with nothing where a statistic is missing. */
function padded(scan: Scan, statistics: readonly (Statistic | undefined)[], withFar: boolean): string {
  const { kinds } = scanColumns(scan)
  return columnsSql(
    kinds.map((kind, column) => statistics[column] ?? NOTHING[kind]),
    withFar,
  )
}

function cellsSql(scan: Scan, spans: readonly CellSpan[], withFar: boolean): string {
  const statistics = scan.columns.map((statistic) => STATISTICS[scan.type][statistic])
  const within = spans.map(({ first, end }) => timeBounds(scan.edges[first] ?? 0, scan.edges[end] ?? 0))
  return `select series_id, key, toFloat64(count())${padded(scan, statistics, withFar)}
from (
  select series_id, value, ${PLACE} as place, toUnixTimestamp64Micro(timestamp) as t, toInt64(${scan.cell.sql}) as key
  from points
  where ${samplesOf(scan)} and (${within.join(' or ')})
)
group by series_id, key${havingFar(statistics, withFar)}`
}

function hoursSql(scan: Scan, spans: readonly CellSpan[], withFar: boolean): string {
  const statistics = scan.columns.map((statistic) => hourlyStatistic(scan.type, statistic) ?? '0')
  const within = spans.map(({ first, end }) =>
    boundsOfHours(scan.edges[first] ?? 0, scan.edges[end] ?? 0, withFar),
  )
  return `select series_id, toInt64(${scan.cell.sqlOf(HOURLY_TIME)}) as key, toFloat64(${HOURLY_HISTORY.count})${padded(scan, statistics, withFar)}
from points
where ${pointsOf(scan)} and (${within.join(' or ')})
group by series_id, key${havingFar(statistics, withFar)}`
}

/** One row a sample; the first statistic is its value, of a counter the total since the first edge. */
function samplesSql(scan: Scan, withFar: boolean): string {
  const value =
    scan.type === 'gauge'
      ? 'value'
      : `sum(value) over (partition by series_id order by ${PLACE} rows unbounded preceding)`
  const last = scan.edges.at(-1) ?? 0
  return `select series_id, toInt64(${scan.cell.sqlOf('toUnixTimestamp64Micro(timestamp)')}) as key, toFloat64(1)${padded(scan, [value], withFar)}
from points
where ${samplesOf(scan)} and ${timeBounds(scan.edges[0] ?? 0, last)}${withFar ? ' and 0' : ''}`
}

function historySql(scan: Scan, withFar: boolean): string {
  const value = { gauge: `argMax(value, ${PLACE})`, counter: SUM }[scan.type]
  return `select series_id, toInt64(${HISTORY_KEY}) as key, toFloat64(count())${ofHistory(scan, value, 'max(toUnixTimestamp64Micro(timestamp))', withFar)}
from points
where ${samplesOf(scan)} and ${bound(scan.edges[0] ?? 0, '<')}
group by series_id${havingFar([value], withFar)}`
}

function hourlyHistorySql(scan: Scan, withFar: boolean): string {
  const { count, value, lastAt } = HOURLY_HISTORY
  return `select series_id, toInt64(${HISTORY_KEY}) as key, toFloat64(${count})${ofHistory(scan, value[scan.type], lastAt, withFar)}
from points
where ${pointsOf(scan)} and ${boundsOfHours(null, scan.edges[0] ?? 0, withFar)}
group by series_id${havingFar([value[scan.type]], withFar)}`
}

function ofHistory(scan: Scan, value: Statistic, lastAt: string, withFar: boolean): string {
  const { kinds, before, beforeAt } = scanColumns(scan)
  const statistics = kinds.map((_, column) =>
    column === before ? value : column === beforeAt ? lastAt : undefined,
  )
  return padded(scan, statistics, withFar)
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

/** The condition of hours in `[from, to)`, without a beginning where that is null. Hours keep sums of near numbers alone: for others samples are read. */
export function boundsOfHours(from: number | null, to: number, withFar: boolean): string {
  if (!withFar) return `(${hourlyBounds(from, to)})`
  return from === null ? bound(to, '<') : timeBounds(from, to)
}

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
