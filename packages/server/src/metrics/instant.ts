import { invalidArgument } from '../platform/errors.ts'
import type { Period, PeriodUnit } from './period.ts'
import { addPeriod, periodUnit } from './period.ts'
import type { TimeZone } from './time-zone.ts'

/** A point in time as written in a field of a request: absolute, or relative to the moment at which it is evaluated. */
export type InstantExpression = { readonly field: string } & (
  | { readonly kind: 'absolute'; readonly epochMs: number }
  | { readonly kind: 'relative'; readonly direction: 1 | -1; readonly period: Period }
)

/**
 * Instants that can be asked for: 1900 is where the engine's times begin, and up to 2250 microseconds stay below 2^53.
 */
export const EARLIEST_MS = Date.UTC(1900, 0, 1)
export const LATEST_MS = Date.UTC(2250, 0, 1)

/** Counts that leave the range from wherever they start, kept away from calendar arithmetic. */
const MAX_COUNT: Readonly<Record<PeriodUnit, number>> = {
  s: 1.2e10,
  m: 2e8,
  h: 3.2e6,
  d: 130_000,
  w: 19_000,
  mo: 4300,
  y: 360,
}

/** An integer below this is read as seconds (TR-2). */
const SECONDS_BELOW = 100_000_000_000
const SYNTAX =
  'must be now, now-<n><unit> or -<n><unit> with a unit of s m h d w mo M y, or an integer of milliseconds'

/** Reads an instant (TR-1, TR-2). `now+…` is taken where `mayBeLater`, that is for the end of a range. */
export function parseInstant(
  value: string | number,
  field: string,
  { mayBeLater }: { readonly mayBeLater: boolean },
): InstantExpression {
  const text = String(value).trim()
  if (/^-?\d+$/.test(text)) {
    const integer = Number(text)
    return { field, kind: 'absolute', epochMs: integer < SECONDS_BELOW ? integer * 1000 : integer }
  }
  if (text === 'now') return { field, kind: 'relative', direction: -1, period: { count: 0, unit: 's' } }
  const match = /^(?:now([+-])|-)(\d+)(s|m|h|d|w|mo|M|y)$/.exec(text)
  const unit = periodUnit(match?.[3] ?? '')
  if (!match || !unit) {
    throw invalidArgument(`${field}: ${JSON.stringify(text.slice(0, 64))} ${SYNTAX}${meantBy(text)}`)
  }
  const direction = match[1] === '+' ? 1 : -1
  if (direction === 1 && !mayBeLater)
    throw invalidArgument(`${field}: now+… is allowed for the end of a range only`)
  return { field, kind: 'relative', direction, period: { count: Number(match[2]), unit } }
}

/** A date that was meant, as what may be sent instead. */
function meantBy(text: string): string {
  if (!/^\d{4}-\d\d-\d\d(?:T[\d:.]{5,15}(?:Z|[+-]\d\d:\d\d))?$/.test(text)) return ''
  const epochMs = Date.parse(text)
  return Number.isNaN(epochMs) ? '' : `, here ${epochMs}`
}

/** The epoch milliseconds that `expression` means at `nowMs`, by the calendar of `zone`. */
export function resolveInstant(expression: InstantExpression, nowMs: number, zone: TimeZone): number {
  const { field } = expression
  if (expression.kind === 'absolute') return inRange(expression.epochMs, field)
  const { period, direction } = expression
  if (period.count > MAX_COUNT[period.unit]) return inRange(Number.NaN, field)
  return inRange(period.count === 0 ? nowMs : addPeriod(zone, nowMs, period, direction), field)
}

function inRange(epochMs: number, field: string): number {
  if (epochMs >= EARLIEST_MS && epochMs <= LATEST_MS) return epochMs
  throw invalidArgument(`${field}: must lie between the years 1900 and 2250`)
}
