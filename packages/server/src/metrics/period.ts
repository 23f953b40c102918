import { invalidArgument } from '../platform/errors.ts'
import type { TimeZone } from './time-zone.ts'

/** Units of a period: `s m h` are exact, `d w mo y` are steps of the calendar (TR-3). */
export const PERIOD_UNITS = ['s', 'm', 'h', 'd', 'w', 'mo', 'y'] as const
export type PeriodUnit = (typeof PERIOD_UNITS)[number]

/** A length of time as people say it; a day over a clock change has 23 or 25 hours. */
export interface Period {
  readonly count: number
  readonly unit: PeriodUnit
}

const EXACT_MS = { s: 1000, m: 60_000, h: 3_600_000 } as const
const DAY_SECONDS = 86_400

const UNIT_NAMES = {
  s: ['s', 'sec', 'secs', 'second', 'seconds'],
  m: ['m', 'min', 'mins', 'minute', 'minutes'],
  h: ['h', 'hr', 'hrs', 'hour', 'hours'],
  d: ['d', 'day', 'days'],
  w: ['w', 'week', 'weeks'],
  mo: ['mo', 'mon', 'month', 'months'],
  y: ['y', 'yr', 'yrs', 'year', 'years'],
} as const satisfies Record<PeriodUnit, readonly string[]>

/** The unit that `name` means: a code of TR-1 or an English name; undefined when it means none. `M` is months, `m` minutes. */
export function periodUnit(name: string): PeriodUnit | undefined {
  if (name === 'M') return 'mo'
  const lower = name.toLowerCase()
  return PERIOD_UNITS.find((unit) => (UNIT_NAMES[unit] as readonly string[]).includes(lower))
}

/**
 * A `durationValue` of a function's argument (FN): positive, at most 200 years, whole for calendar units. Throws
 * `invalid_argument`, whose message says of what the value is by `owner`, such as ` of rate`.
 */
export function parsePeriod(wire: { value?: number; unit?: string }, field: string, owner = ''): Period {
  const unit = periodUnit(wire.unit ?? '')
  if (!unit) {
    throw invalidArgument(
      `${field}.unit${owner}: ${JSON.stringify(wire.unit ?? '')} is not one of ${PERIOD_UNITS.join(', ')} or their English names`,
    )
  }
  const count = wire.value ?? 0
  const isExact = unit in EXACT_MS
  if (!(count > 0) || nominalSeconds({ count, unit }) > 200 * 366 * DAY_SECONDS) {
    throw invalidArgument(
      `${field}.value${owner}: ${wire.value ?? 'none'} must be above 0 and at most 200 years`,
    )
  }
  if (isExact ? !Number.isInteger(count * 1000) : !Number.isInteger(count)) {
    throw invalidArgument(
      `${field}.value${owner}: ${count} must be a whole number of ${isExact ? 'milliseconds' : 'days, weeks, months or years'}`,
    )
  }
  return { count, unit }
}

/** About how long a period is, in seconds: the longest that its unit can be. */
export function nominalSeconds({ count, unit }: Period): number {
  const seconds = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800, mo: 2_678_400, y: 31_622_400 } as const
  return count * seconds[unit]
}

/** Local seconds of the first day of the month `month` (0 is January) of `year`; months beyond a year carry over. */
export function localMonthStart(year: number, month: number): number {
  return Date.UTC(year, month, 1) / 1000
}

/** The last local midnight at or before an instant. */
export function localDayStart(zone: TimeZone, epochSeconds: number): number {
  const local = epochSeconds + zone.offsetSecondsAt(epochSeconds)
  return Math.floor(local / DAY_SECONDS) * DAY_SECONDS
}

/**
 * The instant `direction` × `period` from `instantMs` by the clock of `zone`, in epoch milliseconds (TR-3).
 * The day of the month is clamped to the length of the month. An instant that begins its local day stays one that
 * begins a local day, even where midnight is skipped, so that a day after the start of a day is the start of the next.
 */
export function addPeriod(zone: TimeZone, instantMs: number, period: Period, direction: 1 | -1): number {
  const { unit } = period
  if (unit === 's' || unit === 'm' || unit === 'h') {
    return instantMs + direction * Math.round(period.count * EXACT_MS[unit])
  }
  const epochSeconds = Math.floor(instantMs / 1000)
  const dayStart = localDayStart(zone, epochSeconds)
  const isStartOfDay = instantMs === zone.instantOf(dayStart) * 1000
  const local = isStartOfDay ? dayStart : epochSeconds + zone.offsetSecondsAt(epochSeconds)
  const target = addToLocal(local, unit, direction * period.count)
  return zone.instantOf(target) * 1000 + (instantMs - epochSeconds * 1000)
}

function addToLocal(localSeconds: number, unit: 'd' | 'w' | 'mo' | 'y', count: number): number {
  if (unit === 'd') return localSeconds + count * DAY_SECONDS
  if (unit === 'w') return localSeconds + count * 7 * DAY_SECONDS
  const dayStart = Math.floor(localSeconds / DAY_SECONDS) * DAY_SECONDS
  const date = new Date(dayStart * 1000)
  const month = date.getUTCMonth() + (unit === 'mo' ? count : 12 * count)
  const monthStart = localMonthStart(date.getUTCFullYear(), month)
  const daysInMonth = (localMonthStart(date.getUTCFullYear(), month + 1) - monthStart) / DAY_SECONDS
  const day = Math.min(date.getUTCDate(), daysInMonth)
  return monthStart + (day - 1) * DAY_SECONDS + (localSeconds - dayStart)
}
