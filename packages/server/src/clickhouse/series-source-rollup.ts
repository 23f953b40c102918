import { EARLIEST_MS } from '../metrics/instant.ts'
import { HOUR_MICROS, isHourEdge } from '../metrics/hour-edges.ts'
import type { CellStatistic, MetricType } from '../metrics/series-source.ts'
import { FALL, RISE, SUM } from './fixed-point.ts'
import type { Statistic } from './statistic-columns.ts'

/** Moved up so that no time is negative, which integer division would round the wrong way; a whole number of hours. */
export const FROM_EARLIEST = `(toUnixTimestamp64Micro(timestamp) + ${-EARLIEST_MS * 1000})`
export const HOUR = `intDiv(${FROM_EARLIEST}, ${HOUR_MICROS})`
/** 0 for samples on the full hour itself, 1 for those after it, so that windows open or closed at an hour both find their cells. */
export const AFTER = `(${FROM_EARLIEST} % ${HOUR_MICROS} > 0)`

/**
 * Time, block number and ordinal as one number, which argMin and argMax compare twice as fast as a tuple. Times before
 * 1970 are moved up, so that none is negative.
 */
export const PLACE = `bitOr(bitOr(bitShiftLeft(toUInt256(toUnixTimestamp64Micro(timestamp) + ${-EARLIEST_MS * 1000}), 128), bitShiftLeft(toUInt256(block_number), 64)), toUInt256(ordinal))`

const AGGREGATES = {
  count: 'countIf(isFinite(value))',
  min: 'minIf(value, isFinite(value))',
  max: 'maxIf(value, isFinite(value))',
  first: `argMinIf(value, ${PLACE}, isFinite(value))`,
  last: `argMaxIf(value, ${PLACE}, isFinite(value))`,
  lastAt: 'maxIf(toUnixTimestamp64Micro(timestamp), isFinite(value))',
} as const

/**
 * What `points` keeps of each hour of each series. The engine maintains it with every part: an insert, a merge, a
 * deletion change both at once, so it is as true as the samples are, late data and rollbacks included.
 */
export const HOURLY_PROJECTION = `select metric, ${HOUR} as hour, ${AFTER} as after, series_id, ${[...Object.values(AGGREGATES), SUM.near, FALL.near].join(', ')} group by metric, hour, after, series_id`

/** Which statistics the hours of a type know; `change` of a gauge is never read. */
const OF_HOURS = {
  gauge: {
    sum: SUM,
    min: AGGREGATES.min,
    max: AGGREGATES.max,
    first: AGGREGATES.first,
    last: AGGREGATES.last,
  },
  counter: { last: SUM, change: SUM, rise: RISE },
} as const satisfies Record<MetricType, Partial<Record<CellStatistic, Statistic>>>

/** The statistic over hours; undefined where only samples know it. */
export function hourlyStatistic(type: MetricType, statistic: CellStatistic): Statistic | undefined {
  const known: Readonly<Partial<Record<CellStatistic, Statistic>>> = OF_HOURS[type]
  return known[statistic]
}

/** The value at the end of all hours, its time, and the number of samples. */
export const HOURLY_HISTORY = {
  count: AGGREGATES.count,
  value: { gauge: AGGREGATES.last, counter: SUM },
  lastAt: AGGREGATES.lastAt,
} as const

/** Time as far as hours tell: their start, or the microsecond after it. Lies in the same cell as the samples where cells end on hours. */
export const HOURLY_TIME = `(${HOUR} * ${HOUR_MICROS} + ${AFTER} - ${-EARLIEST_MS * 1000})`

function hourOf(micros: number): number {
  return Math.floor((micros - EARLIEST_MS * 1000) / HOUR_MICROS)
}

/** The condition that a time before `toMicros`, and not before `fromMicros`, puts on hours; both must end hours. */
export function hourlyBounds(fromMicros: number | null, toMicros: number): string {
  const until = `${HOUR} <= ${hourOf(toMicros)} and ${HOURLY_TIME} < ${toMicros}`
  if (fromMicros === null) return until
  return `${HOUR} >= ${hourOf(fromMicros)} and ${HOURLY_TIME} >= ${fromMicros} and ${until}`
}

/** A stretch of neighbouring cells of one kind, `[first, end)`. */
export interface CellSpan {
  readonly first: number
  readonly end: number
  readonly isHourly: boolean
}

/** Cuts cells into stretches that hours answer, which end at `hoursUntil` at the latest, and stretches that need samples. */
export function cellSpans(edges: Float64Array, hoursUntil = Infinity): CellSpan[] {
  const spans: CellSpan[] = []
  for (let cell = 0; cell < edges.length - 1; cell += 1) {
    const [from, to] = [edges[cell] ?? 0, edges[cell + 1] ?? 0]
    const isHourly = to <= hoursUntil && isHourEdge(from) && isHourEdge(to)
    const last = spans.at(-1)
    if (last?.isHourly === isHourly) spans[spans.length - 1] = { ...last, end: cell + 1 }
    else spans.push({ first: cell, end: cell + 1, isHourly })
  }
  return spans
}
