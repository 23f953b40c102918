import { gridOf, shift } from './oracle-calendar.ts'

/** An event of the comparison; its times are all different. */
export interface OracleEvent {
  readonly atMicros: number
  readonly who: string
  readonly venue: string
  readonly amount: number | null
  readonly note: string | null
}

/** A condition on an event as on the wire, and as plain code. */
export interface OracleCondition {
  readonly wire: object
  holds(event: OracleEvent): boolean
}

/** What is asked of events. */
export interface EventQuestion {
  readonly aggregation: object
  /** How the events of one interval, or of all until its end, become a value. */
  readonly plain: Plain
  readonly condition: OracleCondition | null
  readonly groupBy: readonly ('venue' | 'who')[]
}

/** A value of the events of an interval; `null` is no point. `lookBack` takes them from before its end instead. */
export interface Plain {
  readonly of: 'interval' | 'all until its end'
  readonly lookBack?: { readonly value: number; readonly unit: string }
  value(events: readonly OracleEvent[]): number | null
}

/** The values of each group by its labels as JSON, in the slowest and plainest way. */
export function eventOracle(
  events: readonly OracleEvent[],
  { plain, condition, groupBy }: EventQuestion,
  range: {
    readonly startMs: number
    readonly endMs: number
    readonly stepSeconds: number
    readonly timezone: string
  },
): ReadonlyMap<string, readonly (number | null)[]> {
  const { startMs, endMs, stepSeconds, timezone } = range
  const grid = gridOf(startMs, endMs, stepSeconds, timezone)
  const last = grid.at(-1) ?? 0
  // The next point after the last, however far it is.
  const after =
    gridOf(last * 1000, (last + 3 * stepSeconds + 200_000) * 1000, stepSeconds, timezone)[1] ?? Number.NaN
  const ends = grid.map((_, i) => (grid[i + 1] ?? after) * 1e6)
  const begins = grid.map((t, i) => {
    if (plain.of === 'all until its end') return -Infinity
    const { lookBack } = plain
    return lookBack ? shift((ends[i] ?? 0) / 1e6, -lookBack.value, lookBack.unit, timezone) * 1e6 : t * 1e6
  })
  const looked = events.filter(
    (event) =>
      begins.some((begin, i) => event.atMicros >= begin && event.atMicros < (ends[i] ?? 0)) &&
      (condition?.holds(event) ?? true),
  )
  const labelsOf = (event: OracleEvent) =>
    JSON.stringify(groupBy.flatMap((name) => (event[name] === '' ? [] : [[propertyOf(name), event[name]]])))
  const groups = Map.groupBy(looked, labelsOf)
  const values = Array.from(groups, ([key, members]) => {
    const ordered = members.toSorted((a, b) => a.atMicros - b.atMicros)
    const points = grid.map((_, i) =>
      plain.value(
        ordered.filter(({ atMicros }) => atMicros >= (begins[i] ?? 0) && atMicros < (ends[i] ?? 0)),
      ),
    )
    return [key, points] as const
  })
  return new Map(values.filter(([, points]) => points.some((point) => point !== null)))
}

/** The name of a property on the wire. */
export function propertyOf(name: 'venue' | 'who'): string {
  return name === 'who' ? 'distinct_id' : name
}
