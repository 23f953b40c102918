import { EARLIEST_MS } from '../metrics/instant.ts'
import type { CellStatistic, MetricType } from '../metrics/series-source.ts'
import type { CellExpression } from './series-source-cell.ts'

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
}

/** The key of the row that stands for everything before the first edge; its first statistic is the value then. */
export const HISTORY_KEY = -1

/**
 * Time, block number and ordinal as one number, which argMin and argMax compare twice as fast as a tuple. Times before
 * 1970 are moved up, so that none is negative.
 */
const PLACE = `bitOr(bitOr(bitShiftLeft(toUInt256(toUnixTimestamp64Micro(timestamp) + ${-EARLIEST_MS * 1000}), 128), bitShiftLeft(toUInt256(block_number), 64)), toUInt256(ordinal))`
const IN_ORDER = 'arraySort((value, place) -> place, groupArray(value), groupArray(place))'
const TOTALS = `arrayCumSum(${IN_ORDER})`

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
  },
  counter: {
    sum: `arraySum(${TOTALS})`,
    min: `arrayMin(${TOTALS})`,
    max: `arrayMax(${TOTALS})`,
    first: 'argMin(value, place)',
    last: 'sumKahan(value)',
    change: 'sumKahan(value)',
    rise: 'sumKahanIf(value, value > 0)',
  },
} as const satisfies Record<MetricType, Record<CellStatistic, string>>

const VALUE_OF_HISTORY = {
  gauge: `argMax(value, ${PLACE})`,
  counter: 'sumKahan(value)',
} as const satisfies Record<MetricType, string>

/** The statement of a scan: rows of series (UInt64), key (Int64), count and statistics (Float64). */
export function scanSql(scan: Scan): string {
  const statements = []
  if (scan.edges.length > 1) statements.push(cellsSql(scan))
  if (scan.needsHistory) statements.push(historySql(scan))
  return statements.join('\nunion all\n')
}

/** How many statistics a row has; at least one, for the history. */
export function rowWidth({ columns }: Pick<Scan, 'columns'>): number {
  return Math.max(columns.length, 1)
}

function cellsSql(scan: Scan): string {
  const statistics = scan.columns.map((statistic) => `toFloat64(${STATISTICS[scan.type][statistic]})`)
  if (statistics.length === 0) statistics.push('toFloat64(0)')
  const [first, last] = [scan.edges[0] ?? 0, scan.edges.at(-1) ?? 0]
  return `select series_id, key, toFloat64(count()), ${statistics.join(', ')}
from (
  select series_id, value, ${PLACE} as place, toUnixTimestamp64Micro(timestamp) as t, toInt64(${scan.cell.sql}) as key
  from points
  where ${pointsOf(scan)}${since(first)}${until(last)}
)
group by series_id, key`
}

function historySql(scan: Scan): string {
  const zeros = scan.columns.slice(1).map(() => ', toFloat64(0)')
  return `select series_id, toInt64(${HISTORY_KEY}) as key, toFloat64(count()), toFloat64(${VALUE_OF_HISTORY[scan.type]})${zeros.join('')}
from points
where ${pointsOf(scan)}${until(scan.edges[0] ?? 0)}
group by series_id`
}

/** Ids are digits that came from the engine; a parameter could not carry thousands of them in an address. */
function pointsOf({ seriesIds }: Scan): string {
  const ofSeries = seriesIds ? ` and series_id in (${seriesIds.join(', ')})` : ''
  return `metric = {metric:String} and isFinite(value)${ofSeries}`
}

/**
 * The sort key holds toStartOfDay, a 32-bit time that is wrong outside 1970 to 2105: bounds beyond are compared
 * as numbers, which the key does not prune by.
 */
const KEY_FIRST_MICROS = Date.UTC(1970, 0, 3) * 1000
const KEY_LAST_MICROS = Date.UTC(2105, 0, 1) * 1000

function since(micros: number): string {
  return ` and ${bound(micros, '>=')}`
}

function until(micros: number): string {
  return ` and ${bound(micros, '<')}`
}

function bound(micros: number, comparison: '>=' | '<'): string {
  const isKeyed = micros >= KEY_FIRST_MICROS && micros <= KEY_LAST_MICROS
  return isKeyed
    ? `timestamp ${comparison} fromUnixTimestamp64Micro(toInt64(${micros}), 'UTC')`
    : `toUnixTimestamp64Micro(timestamp) ${comparison} ${micros}`
}
