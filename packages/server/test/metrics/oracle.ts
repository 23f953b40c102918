import { seriesKey, type Sample } from './samples.ts'

/**
 * The rulings MQ-2, MQ-3, FN-1 to FN-4 in the slowest and plainest way: every window looks at every sample, and the
 * calendar is asked of Intl each time. Shares nothing with the code it judges.
 */
export interface OracleFunction {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** Of `quantile_over_time` alone. */
  readonly quantile?: number
}

/** The value of each series (by its labels as JSON) at each grid point, null where there is none. */
export function oracle(
  samples: readonly Sample[],
  call: OracleFunction | null,
  gridSeconds: readonly number[],
  zone: string,
): Map<string, (number | null)[]> {
  const bySeries = Map.groupBy(samples, ({ labels }) => seriesKey(labels))
  return new Map(
    [...bySeries].map(([key, members]) => {
      const values = valuesOf(members)
      return [key, gridSeconds.map((t) => evaluate(values, members[0]?.type ?? 'gauge', call, t, zone))]
    }),
  )
}

interface Value {
  readonly at: number
  readonly value: number
}

/** Samples in order, a counter's as running totals. */
function valuesOf(samples: readonly Sample[]): Value[] {
  const ordered = samples.toSorted(
    (a, b) => a.timestampMicros - b.timestampMicros || a.blockNumber - b.blockNumber || a.ordinal - b.ordinal,
  )
  let total = 0
  return ordered.map(({ type, timestampMicros, value }) => {
    total += value
    return { at: timestampMicros, value: type === 'counter' ? total : value }
  })
}

function evaluate(
  values: readonly Value[],
  type: Sample['type'],
  call: OracleFunction | null,
  t: number,
  zone: string,
): number | null {
  const at = t * 1e6
  if (!call) return values.findLast((value) => value.at <= at)?.value ?? null
  const isLeading = call.name.startsWith('rollup_')
  const other = shift(t, isLeading ? call.value : -call.value, call.unit, zone) * 1e6
  const isInside = (value: Value) =>
    isLeading ? value.at >= at && value.at < other : value.at > other && value.at <= at
  const inside = values.filter(isInside)
  const first = inside[0]
  const isBefore = (value: Value) => (isLeading ? value.at < at : value.at <= other)
  const before = values.findLast(isBefore)?.value
  const name = call.name.replace('rollup_', '').replace('_over_time', '')
  if (name === 'count') return first || before !== undefined ? inside.length : null
  if (!first) return null
  const numbers = inside.map(({ value }) => value)
  const last = numbers.at(-1) ?? 0
  const sum = numbers.reduce((a, b) => a + b)
  const base = before ?? (type === 'counter' ? 0 : first.value)
  let rise = 0
  for (const [i, value] of numbers.entries()) {
    const previous = numbers[i - 1] ?? base
    if (value > previous) rise += value - previous
  }
  switch (name) {
    case 'sum':
      return sum
    case 'avg':
      return sum / numbers.length
    case 'min':
      return Math.min(...numbers)
    case 'max':
      return Math.max(...numbers)
    case 'first':
      return first.value
    case 'last':
      return last
    case 'delta':
      return last - base
    case 'increase':
      return rise
    case 'stddev': {
      const mean = sum / numbers.length
      return Math.sqrt(numbers.reduce((total, value) => total + (value - mean) ** 2, 0) / numbers.length)
    }
    case 'quantile': {
      const ascending = numbers.toSorted((a, b) => a - b)
      const place = (call.quantile ?? 0) * (numbers.length - 1)
      const at = (index: number) => ascending[index] ?? 0
      return at(Math.floor(place)) + (at(Math.ceil(place)) - at(Math.floor(place))) * (place % 1)
    }
    case 'irate': {
      const end = inside.at(-1)
      const earlier = end && values.findLast((value) => value.at < end.at)
      return end && earlier ? ((end.value - earlier.value) * 1e6) / (end.at - earlier.at) : null
    }
    case 'rate':
      return rise / ((at - other) / 1e6)
    default:
      throw new Error(name)
  }
}

const EXACT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }

/** The epoch seconds that lie a number of units from `t` on the wall clock. */
function shift(t: number, count: number, unit: string, zone: string): number {
  const exact = EXACT[unit]
  if (exact) return t + count * exact
  const wall = wallClock(t, zone)
  const date = new Date(wall * 1000)
  // What begins a day goes to the beginning of a day.
  if (date.getUTCDate() !== new Date(wallClock(t - 1, zone) * 1000).getUTCDate()) date.setUTCHours(0, 0, 0)
  if (unit === 'd') date.setUTCDate(date.getUTCDate() + count)
  if (unit === 'w') date.setUTCDate(date.getUTCDate() + 7 * count)
  if (unit === 'mo') {
    const day = date.getUTCDate()
    date.setUTCDate(1)
    date.setUTCMonth(date.getUTCMonth() + count)
    const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
    date.setUTCDate(Math.min(day, lastDay))
  }
  const target = date.getTime() / 1000
  // Clocks change by less than three hours. Quarter hours find each change of our times, seconds the rest.
  let instant = target - (wall - t) - 3 * 3600
  while (wallClock(instant, zone) < target) instant += 900
  instant -= 900
  while (wallClock(instant, zone) < target) instant += wallClock(instant + 60, zone) < target ? 60 : 1
  return instant
}

const clocks = new Map<string, Intl.DateTimeFormat>()

function wallClock(t: number, zone: string): number {
  let clock = clocks.get(zone)
  if (!clock) {
    clock = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
    clocks.set(zone, clock)
  }
  return Date.parse(`${clock.format(t * 1000).replace(' ', 'T')}Z`) / 1000
}
