import { invalidArgument } from '../platform/errors.ts'
import { createRecentValues } from '../platform/recent-values.ts'
import { gridPoints } from './grid.ts'
import type { InstantExpression } from './instant.ts'
import { parseInstant, resolveInstant } from './instant.ts'
import { chooseStep, MAX_POINTS, parseStep } from './step.ts'
import type { TimeZone } from './time-zone.ts'
import { timeZone } from './time-zone.ts'

/** A time range as written, checked; relative times stay relative, so that it can be part of a cache key (CA-1). */
export interface TimeRange {
  readonly start: InstantExpression
  readonly end: InstantExpression
  readonly stepSeconds: number | null
  readonly timezone: string
}

/** The timestamps at which a query answers, and how they came about. */
export interface Grid {
  readonly zone: TimeZone
  /** Epoch seconds, ascending, at least one. */
  readonly points: Float64Array
  readonly stepSeconds: number
  /** True when the step is not the one asked for (TR-5). */
  readonly isAdjusted: boolean
}

interface WireTimeRange {
  readonly start: string | number
  readonly end: string | number
  readonly step?: number
  readonly timezone?: string
}

/** Where a request says from when to when, and by which calendar. */
export interface TimeRangeFields {
  readonly start: string
  readonly end: string
  readonly timezone: string
}

const FIELDS: TimeRangeFields = {
  start: 'timeRange.start',
  end: 'timeRange.end',
  timezone: 'timeRange.timezone',
}

/** Checks everything of a range that does not depend on the current time. */
export function parseTimeRange(wire: WireTimeRange, fields = FIELDS): TimeRange {
  return {
    start: parseInstant(wire.start, fields.start, { mayBeLater: false }),
    end: parseInstant(wire.end, fields.end, { mayBeLater: true }),
    stepSeconds: parseStep(wire.step),
    timezone: timeZone(wire.timezone || 'UTC', fields.timezone).name,
  }
}

/**
 * Makes what throws `invalid_argument` when a range cannot be answered at the moment `nowMs`; far cheaper than its grid. It holds nothing else,
 * because it is kept with requests that may come again.
 */
export function createRangeCheck(range: TimeRange): (nowMs: number) => void {
  return (nowMs) => {
    resolveBounds(range, timeZone(range.timezone), nowMs)
  }
}

function resolveBounds(range: TimeRange, zone: TimeZone, nowMs: number) {
  const startMs = resolveInstant(range.start, nowMs, zone)
  const endMs = resolveInstant(range.end, nowMs, zone)
  if (startMs > endMs) throw invalidArgument(`${range.start.field}: must not be after ${range.end.field}`)
  return { startMs, endMs }
}

/** Makes the grids of a range, once for a moment: what an answer covers is asked before it is computed. */
export function createGrids(range: TimeRange): (nowMs: number) => Grid {
  let last: { readonly nowMs: number; readonly grid: Grid } | null = null
  return (nowMs) => {
    if (last?.nowMs !== nowMs) last = { nowMs, grid: resolveTimeRange(range, nowMs) }
    return last.grid
  }
}

/**
 * Grids of ranges that were asked for lately: the queries of a dashboard share one, and what is planned on it. Grid points are whole seconds, so all
 * that are asked up to `now` within a second share one too.
 */
const recent = createRecentValues<Grid>(16)

/** The grid of a range at the moment `nowMs` (TR-4 to TR-6). */
export function resolveTimeRange(range: TimeRange, nowMs: number): Grid {
  const zone = timeZone(range.timezone)
  const { startMs, endMs } = resolveBounds(range, zone, nowMs)
  const [start, end] = [Math.floor(startMs / 1000), Math.floor(endMs / 1000)]
  const key = `${start} ${end} ${range.stepSeconds} ${zone.name}`
  const grid = recent.get(key) ?? makeGrid(zone, startMs, endMs, range.stepSeconds)
  recent.put(key, grid, 1)
  return grid
}

function makeGrid(zone: TimeZone, startMs: number, endMs: number, wish: number | null): Grid {
  const { stepSeconds, points, isAdjusted } = chooseStep(wish, (stepSeconds) =>
    gridPoints(zone, startMs, endMs, stepSeconds, MAX_POINTS),
  )
  return { zone, points, stepSeconds, isAdjusted }
}
