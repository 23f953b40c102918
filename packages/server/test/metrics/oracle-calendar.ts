/** The calendar in the plainest way: Intl is asked each time, and days are walked one by one. */

const EXACT: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 }
const QUARTER_SECONDS = 900
const DAY_SECONDS = 86_400
/** No interval that is asked for is longer. */
const LONGEST_DAYS = 32

/** The epoch seconds that lie a number of units from `t` on the wall clock (TR-3). */
export function shift(t: number, count: number, unit: string, zone: string): number {
  const exact = EXACT[unit]
  if (exact) return t + count * exact
  const wall = wallClock(t, zone)
  const date = new Date(wall * 1000)
  // What begins a day goes to the beginning of a day.
  if (date.getUTCDate() !== new Date(wallClock(t - 1, zone) * 1000).getUTCDate()) date.setUTCHours(0, 0, 0)
  if (unit === 'd') date.setUTCDate(date.getUTCDate() + count)
  if (unit === 'w') date.setUTCDate(date.getUTCDate() + 7 * count)
  if (unit === 'mo' || unit === 'y') {
    const day = date.getUTCDate()
    date.setUTCDate(1)
    date.setUTCMonth(date.getUTCMonth() + count * (unit === 'y' ? 12 : 1))
    const lastDay = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
    date.setUTCDate(Math.min(day, lastDay))
  }
  return firstInstant(date.getTime() / 1000, t - wall, zone)
}

/** The first instant at which the wall clock shows `wall` or later; `offset` is about the epoch minus the wall. */
function firstInstant(wall: number, offset: number, zone: string): number {
  // Clocks change by less than three hours. Quarter hours find each change of our times, seconds the rest.
  let instant = wall + offset - 3 * 3600
  while (wallClock(instant, zone) < wall) instant += QUARTER_SECONDS
  instant -= QUARTER_SECONDS
  while (wallClock(instant, zone) < wall) instant += wallClock(instant + 60, zone) < wall ? 60 : 1
  return instant
}

/** The grid of a range (TR-6): steps below a day count from the start of each local day; others are days, weeks from Monday, months, years. */
export function gridOf(startMs: number, endMs: number, stepSeconds: number, zone: string): number[] {
  const points: number[] = []
  const wallDay = (t: number) => Math.floor(wallClock(t, zone) / DAY_SECONDS)
  const firstDay = wallDay(Math.floor(startMs / 1000)) - LONGEST_DAYS
  const lastDay = wallDay(Math.floor(endMs / 1000)) + 1
  const begins = (day: number) => beginsInterval(new Date(day * DAY_SECONDS * 1000), day, stepSeconds)
  const isWithinDay = stepSeconds < DAY_SECONDS
  const start = Math.floor(startMs / 1000)
  const offset = start - wallClock(start, zone)
  const startOf = (day: number) => firstInstant(day * DAY_SECONDS, offset, zone)
  // Enough days before the start for the longest interval to begin in.
  for (let day = firstDay; day <= lastDay; day += 1) {
    if (!isWithinDay) {
      if (begins(day)) points.push(startOf(day))
      continue
    }
    for (let t = startOf(day), next = startOf(day + 1); t < next; t += stepSeconds) points.push(t)
  }
  const from = points.findLast((t) => t * 1000 <= startMs) ?? Number.NaN
  return points.filter((t) => t >= from && t * 1000 <= endMs)
}

function beginsInterval(date: Date, day: number, stepSeconds: number): boolean {
  if (stepSeconds === 30 * DAY_SECONDS) return date.getUTCDate() === 1
  if (stepSeconds === 7 * DAY_SECONDS) return date.getUTCDay() === 1
  return day % (stepSeconds / DAY_SECONDS) === 0
}

const clocks = new Map<string, Intl.DateTimeFormat>()
const read = new Map<string, number>()

/** What the wall clock shows, as if it were UTC. */
export function wallClock(t: number, zone: string): number {
  const key = `${zone} ${t}`
  const known = read.get(key)
  if (known !== undefined) return known
  let clock = clocks.get(zone)
  if (!clock) {
    clock = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
    clocks.set(zone, clock)
  }
  const wall = Date.parse(`${clock.format(t * 1000).replace(' ', 'T')}Z`) / 1000
  read.set(key, wall)
  return wall
}
