import type { Snapshot } from '../cache/snapshot.ts'
import type { EventCondition } from './event-condition.ts'
import type { GridSeries } from './grid-series.ts'
import type { Windows } from './windows.ts'

/** What is asked of the events in a window; all but the first two are of the numbers that a property holds. */
export const EVENT_STATISTICS = [
  'count',
  'distinct',
  'sum',
  'avg',
  'median',
  'min',
  'max',
  'first',
  'last',
  'p25',
  'p75',
  'p90',
  'p95',
  'p99',
] as const
export type EventStatistic = (typeof EVENT_STATISTICS)[number]

/** What to read of an event log, as data. */
export interface EventPlan {
  readonly projectId: number
  readonly version: number
  readonly name: string
  readonly statistic: EventStatistic
  /** A column or attribute; for `count` null counts all events, else those that have it. */
  readonly property: string | null
  readonly condition: EventCondition | null
  /** Columns or attributes whose values become labels. */
  readonly groupBy: readonly string[]
  /** Groups read at most, those with most events first. */
  readonly maxGroups: number
  /**
   * `each`: every window for itself. `first`: windows follow one another, and `distinct` counts what no window before
   * has had. A window that begins at −Infinity has no beginning.
   */
  readonly windows: Windows
  readonly isNewOnly: boolean
  /** Which batches are to be seen; null for all that are there. */
  readonly snapshot: Snapshot | null
}

/** What was found: for each group a value for each window, NaN where there is none. */
export interface EventReading {
  readonly isKnownLog: boolean
  readonly series: readonly GridSeries[]
}

/** Where events come from. An edge implements it; it throws `invalid_argument` for a property that the log does not have. */
export interface EventSource {
  read(plan: EventPlan, signal: AbortSignal): Promise<EventReading>
}
