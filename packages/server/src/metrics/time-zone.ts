import { invalidArgument } from '../platform/errors.ts'

/** A stretch of time with one offset, `[startSeconds, endSeconds)` in epoch seconds. */
interface OffsetSpan {
  readonly startSeconds: number
  readonly endSeconds: number
  readonly offsetSeconds: number
}

/**
 * The clock of a tz database zone. Instants are epoch seconds; *local seconds* are what its wall clock shows,
 * counted as if it were UTC.
 */
export interface TimeZone {
  readonly name: string
  /** Local seconds minus epoch seconds. */
  offsetSecondsAt(epochSeconds: number): number
  /**
   * The first instant at which the wall clock shows `localSeconds` or later. A wall time that a clock change skips is
   * therefore the instant of the change, one that is shown twice is the first, and a day that a zone skipped
   * (Pacific/Apia, 2011-12-30) begins and ends where the next one begins. Never decreases with `localSeconds`.
   */
  instantOf(localSeconds: number): number
}

/**
 * Two changes of one zone are at least 3.99 days apart from 1900 on (Africa/Freetown 1939, tz 2026c), so sampling
 * every three days misses none. A call of Intl takes about 3 µs: a year costs a third of a millisecond, once.
 */
const SAMPLE_SECONDS = 3 * 86_400
const MAX_OFFSET_SECONDS = 16 * 3600
const MAX_ZONES = 1000
const zones = new Map<string, TimeZone>()

/** The zone called `name`, in any letter case; throws `invalid_argument` for a name that the tz database does not have (TR-4), told of `field`. */
export function timeZone(name: string, field = 'timeRange.timezone'): TimeZone {
  const known = zones.get(name)
  if (known) return known
  const zone = createTimeZone(name, readOffset(name, field))
  if (zones.size >= MAX_ZONES) zones.clear()
  zones.set(name, zone)
  return zone
}

type ReadOffset = (epochSeconds: number) => number

function readOffset(name: string, field: string): ReadOffset {
  let format: Intl.DateTimeFormat
  try {
    // Intl also takes offsets such as +05:30, which are no tz database names.
    if (!/^[A-Za-z]/.test(name)) throw new RangeError(name)
    format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
  } catch (cause) {
    throw invalidArgument(
      `${field}: ${JSON.stringify(name.slice(0, 64))} is not a tz database name such as "America/Los_Angeles"`,
      cause instanceof RangeError ? undefined : [cause],
    )
  }
  return (epochSeconds) => {
    const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(epochSeconds * 1000))
    if (!match?.[1]) return 0
    const seconds = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0)
    return match[1] === '-' ? -seconds : seconds
  }
}

function createTimeZone(name: string, offsetAt: ReadOffset): TimeZone {
  const years = new Map<number, readonly OffsetSpan[]>()

  const spansOfYear = (year: number): readonly OffsetSpan[] => {
    let spans = years.get(year)
    if (!spans) {
      spans = findSpans(Date.UTC(year, 0, 1) / 1000, Date.UTC(year + 1, 0, 1) / 1000, offsetAt)
      years.set(year, spans)
    }
    return spans
  }

  /** Neighbouring instants are asked for one after the other. */
  let latest: OffsetSpan | undefined

  const spanAt = (epochSeconds: number): OffsetSpan => {
    if (latest && epochSeconds >= latest.startSeconds && epochSeconds < latest.endSeconds) return latest
    const span = spansOfYear(yearOf(epochSeconds)).find((span) => epochSeconds < span.endSeconds)
    if (!span) throw new RangeError(`No offset of ${name} at ${epochSeconds}`)
    latest = span
    return span
  }

  return {
    name,
    offsetSecondsAt: (epochSeconds) => spanAt(epochSeconds).offsetSeconds,
    instantOf(localSeconds) {
      for (let at = localSeconds - MAX_OFFSET_SECONDS; ;) {
        const span = spanAt(at)
        const instant = Math.max(at, localSeconds - span.offsetSeconds)
        if (instant < span.endSeconds) return instant
        at = span.endSeconds
      }
    },
  }
}

/** The offsets of `[startSeconds, endSeconds)`, in order; neighbours differ. */
function findSpans(startSeconds: number, endSeconds: number, offsetAt: ReadOffset): OffsetSpan[] {
  const spans: OffsetSpan[] = []
  let spanStart = startSeconds
  let offset = offsetAt(startSeconds)
  for (let at = startSeconds; at < endSeconds;) {
    const next = Math.min(at + SAMPLE_SECONDS, endSeconds - 1)
    const nextOffset = offsetAt(next)
    if (nextOffset !== offset) {
      const change = findChange(at, next, offset, offsetAt)
      spans.push({ startSeconds: spanStart, endSeconds: change, offsetSeconds: offset })
      spanStart = change
      offset = nextOffset
    }
    if (next === endSeconds - 1) break
    at = next
  }
  spans.push({ startSeconds: spanStart, endSeconds, offsetSeconds: offset })
  return spans
}

/** The first second in `(low, high]` whose offset is not `offset` any more. */
function findChange(low: number, high: number, offset: number, offsetAt: ReadOffset): number {
  let [before, after] = [low, high]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (offsetAt(middle) === offset) before = middle
    else after = middle
  }
  return after
}

function yearOf(epochSeconds: number): number {
  return new Date(epochSeconds * 1000).getUTCFullYear()
}
