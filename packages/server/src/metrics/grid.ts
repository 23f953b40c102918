import { localDayStart, localMonthStart } from './period.ts'
import { MONTH_SECONDS, WEEK_SECONDS, YEAR_SECONDS } from './step.ts'
import type { TimeZone } from './time-zone.ts'

const DAY_SECONDS = 86_400
/** 1970-01-05, the first Monday. */
const MONDAY_SECONDS = 4 * DAY_SECONDS

/**
 * The grid of TR-6 in epoch seconds: from the last grid point at or before `startMs` through the last one at or before
 * `endMs`. Null when it has more than `maxPoints`.
 *
 * - A step below a day gives the points *start of the local day + k·step*, counted in elapsed time and anew each
 *   day. Where the step does not divide the day, and on days of 23 or 25 hours, the last interval of a day is shorter.
 * - 604 800 s and its multiples begin on Mondays; 2 592 000 s (30 d) is the calendar month and 31 536 000 s (365 d) the
 *   calendar year, each from its first day.
 * - Any other step is counted on the wall clock from local midnight of 1970-01-01, so whole days begin at local midnight.
 *
 * The start of a local day is the first instant that belongs to it or to a later one: after a midnight that the clock skips it is the
 * instant of the change, and a day that the zone skipped has no point.
 */
export function gridPoints(
  zone: TimeZone,
  startMs: number,
  endMs: number,
  stepSeconds: number,
  maxPoints: number,
): Float64Array | null {
  const start = Math.floor(startMs / 1000)
  const end = Math.floor(endMs / 1000)
  if (stepSeconds >= DAY_SECONDS) return collect(marks(zone, start, stepSeconds), end, maxPoints)
  // A grid within days is never thinner than its step.
  if ((end - start) / stepSeconds > maxPoints) return null
  return collect(pointsWithinDays(zone, start, stepSeconds), end, maxPoints)
}

/** The grid point after `point`, which is one: where its interval ends. */
export function nextGridPoint(zone: TimeZone, point: number, stepSeconds: number): number {
  const points =
    stepSeconds >= DAY_SECONDS ? marks(zone, point, stepSeconds) : pointsWithinDays(zone, point, stepSeconds)
  for (const each of points) if (each > point) return each
  throw new Error('A grid has no end')
}

function collect(points: Iterable<number>, end: number, maxPoints: number): Float64Array | null {
  const collected: number[] = []
  for (const point of points) {
    // The first point is at or before the start.
    if (point > end) break
    if (collected.length === maxPoints) return null
    collected.push(point)
  }
  return Float64Array.from(collected)
}

function* pointsWithinDays(zone: TimeZone, start: number, stepSeconds: number): Generator<number> {
  const days = marks(zone, start, DAY_SECONDS)
  let dayStart = days.next().value ?? start
  let point = dayStart + Math.floor((start - dayStart) / stepSeconds) * stepSeconds
  for (const nextDay of days) {
    for (; point < nextDay; point += stepSeconds) yield point
    dayStart = nextDay
    point = dayStart
  }
}

/** The grid of a step of a day or more, ascending and endless, from the last point at or before `start`. */
function* marks(zone: TimeZone, start: number, stepSeconds: number): Generator<number, undefined> {
  const { indexAt, localAt } = calendar(stepSeconds)
  // A zone may step back over midnight when the next day has begun already; hence from that day on, backwards.
  let index = indexAt(localDayStart(zone, start) + DAY_SECONDS)
  while (zone.instantOf(localAt(index)) > start) index -= 1
  let last = zone.instantOf(localAt(index))
  yield last
  for (;;) {
    index += 1
    const mark = zone.instantOf(localAt(index))
    if (mark > last) yield mark
    last = mark
  }
}

interface Calendar {
  /** Local seconds of the mark with an index. */
  localAt(index: number): number
  /** The last mark at or before local seconds. */
  indexAt(localSeconds: number): number
}

function calendar(stepSeconds: number): Calendar {
  if (stepSeconds === MONTH_SECONDS) return { localAt: monthStart, indexAt: monthOf }
  if (stepSeconds === YEAR_SECONDS) {
    return {
      localAt: (index) => monthStart(12 * index),
      indexAt: (local) => Math.floor(monthOf(local) / 12),
    }
  }
  const anchor = stepSeconds % WEEK_SECONDS === 0 ? MONDAY_SECONDS : 0
  return {
    localAt: (index) => anchor + index * stepSeconds,
    indexAt: (local) => Math.floor((local - anchor) / stepSeconds),
  }
}

/** Months are counted from January 1970. */
function monthStart(index: number): number {
  return localMonthStart(1970, index)
}

function monthOf(localSeconds: number): number {
  const date = new Date(localSeconds * 1000)
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()
}
