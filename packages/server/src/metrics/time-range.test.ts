import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { gridPoints } from './grid.ts'
import { addPeriod } from './period.ts'
import { STEP_LADDER } from './step.ts'
import { parseTimeRange, resolveTimeRange } from './time-range.ts'
import { timeZone } from './time-zone.ts'

const NOW = Date.UTC(2026, 10, 21, 8, 30, 17, 250)
const ZONES = Intl.supportedValuesOf('timeZone')

function resolve(start: string | number, end: string | number, step?: number, timezone = 'UTC', nowMs = NOW) {
  const wire = { start, end, timezone, ...(step === undefined ? {} : { step }) }
  return resolveTimeRange(parseTimeRange(wire), nowMs)
}

function iso(seconds: number | undefined): string {
  return new Date((seconds ?? Number.NaN) * 1000).toISOString().replace('.000Z', 'Z')
}

function points(...args: Parameters<typeof resolve>): string[] {
  return Array.from(resolve(...args).points, iso)
}

/** What a wall clock in `zone` shows, by Intl alone. */
function wallClock(zone: string, epochSeconds: number) {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    weekday: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(epochSeconds * 1000)
  const value = (type: string) => parts.find((part) => part.type === type)?.value ?? ''
  return {
    date: `${value('year')}-${value('month')}-${value('day')}`,
    month: `${value('year')}-${value('month')}`,
    year: value('year'),
    weekday: value('weekday'),
    day: Number(value('day')),
    secondOfDay: Number(value('hour')) * 3600 + Number(value('minute')) * 60 + Number(value('second')),
  }
}

describe('a relative or absolute instant', () => {
  const cases: [string | number, string][] = [
    ['now', '2026-11-21T08:30:17Z'],
    ['now-45s', '2026-11-21T08:29:32Z'],
    ['now-5m', '2026-11-21T08:25:17Z'],
    ['now-2h', '2026-11-21T06:30:17Z'],
    ['now-7d', '2026-11-14T08:30:17Z'],
    ['-7d', '2026-11-14T08:30:17Z'],
    ['now-2w', '2026-11-07T08:30:17Z'],
    ['now-3mo', '2026-08-21T08:30:17Z'],
    ['now-9M', '2026-02-21T08:30:17Z'],
    ['-1y', '2025-11-21T08:30:17Z'],
    [1_748_000_000_000, '2025-05-23T11:33:20Z'],
    ['1748000000000', '2025-05-23T11:33:20Z'],
    [1_748_000_000, '2025-05-23T11:33:20Z'],
    ['1682434800', '2023-04-25T15:00:00Z'],
  ]
  it.each(cases)('%s is read as TR-1 and TR-2 say', (start, expected) => {
    expect(points(start, start, 1)).toEqual([expected])
  })

  it('may lie after now as the end only (TR-1)', () => {
    expect(points('now', 'now+2h', 3600)).toHaveLength(3)
    expect(() => resolve('now+1h', 'now+2h', 3600)).toThrow(
      /timeRange.start: now\+… is allowed for the end of a range only/,
    )
  })

  it.each([
    ['2026-03-01T00:00:00Z', 1_772_323_200_000],
    ['2026-03-01T01:30:00.500+01:30', 1_772_323_200_500],
    ['2026-03-01', 1_772_323_200_000],
  ])('says of a date what may be sent instead: %s (TR-1)', (start, epochMs) => {
    expect(() => resolve(start, 'now')).toThrow(`or an integer of milliseconds, here ${epochMs}`)
  })

  it.each(['', 'now-', 'now-5', 'now-5x', '5d', 'now -5d', 'yesterday', '1.5', 'now--5d', 'NOW'])(
    'refuses %j and says what is allowed (TR-1, ER-2)',
    (start) => expect(() => resolve(start, 'now')).toThrow(/timeRange.start: .* must be now/),
  )

  it.each(['now-1000y', 'now-99999999999999999999s', '99999999999999', 'now-5000mo', '-9999999999'])(
    'refuses %s, which leaves the years that are stored',
    (start) => expect(() => resolve(start, 'now')).toThrow(/between the years 1900 and 2250/),
  )

  it('takes calendar steps by the wall clock and exact ones by elapsed time (TR-3)', () => {
    // Clocks in Los Angeles went back on 2026-11-01, a day of 25 hours.
    const now = Date.parse('2026-11-02T12:00:00-08:00')
    expect(points('now-2d', 'now-2d', 1, 'America/Los_Angeles', now)).toEqual(['2026-10-31T19:00:00Z'])
    expect(points('now-48h', 'now-48h', 1, 'America/Los_Angeles', now)).toEqual(['2026-10-31T20:00:00Z'])
  })

  it('clamps the day to the length of the month (TR-3)', () => {
    const now = Date.parse('2024-03-31T12:00:00Z')
    expect(points('now-1mo', 'now-1mo', 1, 'UTC', now)).toEqual(['2024-02-29T12:00:00Z'])
    expect(points('-13mo', '-13mo', 1, 'UTC', now)).toEqual(['2023-02-28T12:00:00Z'])
    expect(points('-1y', '-1y', 1, 'UTC', Date.parse('2024-02-29T01:00:00Z'))).toEqual([
      '2023-02-28T01:00:00Z',
    ])
  })
})

describe('a range', () => {
  it('refuses an unknown timezone, and is UTC without one (TR-4)', () => {
    expect(() => resolve('now-1d', 'now', 60, 'Mars/Olympus')).toThrow(/timeRange.timezone: "Mars\/Olympus"/)
    expect(() => resolve('now-1d', 'now', 60, '+05:30')).toThrow(/timeRange.timezone/)
    expect(resolveTimeRange(parseTimeRange({ start: 'now', end: 'now' }), NOW).zone.name).toBe('UTC')
  })

  it('refuses a start after its end and a step below one (TR-4)', () => {
    expect(() => resolve('now', 'now-1s', 60)).toThrow(/timeRange.start: must not be after timeRange.end/)
    expect(() => resolve('now-1d', 'now', 0)).toThrow(/timeRange.step/)
    expect(() => resolve('now-1d', 'now', -60)).toThrow(/timeRange.step/)
  })

  it('of no length has one grid point (TR-4)', () => {
    expect(points('now', 'now', 3600)).toEqual(['2026-11-21T08:00:00Z'])
  })

  it('has the points of its start floored and of its last step, both inclusive (TR-6)', () => {
    expect(points('now-7d', 'now', 86_400)).toHaveLength(8)
  })

  const adjusted: [string, number | undefined, number, boolean][] = [
    ['now-30d', 3600, 3600, false],
    ['now-30d', 60, 3600, true],
    ['now-1d', 60, 120, true],
    ['now-1d', 1, 120, true],
    ['now-100y', 1, 31_536_000, true],
    ['now-1d', undefined, 120, false],
    ['now-1d', 7, 120, true],
    ['now-3y', 3600, 172_800, true],
  ]
  it.each(adjusted)('from %s with step %s has step %s (TR-5)', (start, step, expected, isAdjusted) => {
    expect(resolve(start, 'now', step)).toMatchObject({ stepSeconds: expected, isAdjusted })
  })

  it('aligns to local midnight in zones off the full hour (TR-6)', () => {
    expect(points('now-1h', 'now', 3600, 'Asia/Kolkata')).toEqual([
      '2026-11-21T07:30:00Z',
      '2026-11-21T08:30:00Z',
    ])
    expect(points('now', 'now', 86_400, 'Asia/Kathmandu')).toEqual(['2026-11-20T18:15:00Z'])
  })

  it('starts sub-day steps anew each local day, whatever its length (TR-6)', () => {
    const fall = [
      '2026-11-01T07:00:00Z',
      '2026-11-01T19:00:00Z',
      '2026-11-02T07:00:00Z',
      '2026-11-02T08:00:00Z',
    ]
    expect(
      points(Date.parse(fall[0] ?? ''), Date.parse(fall[3] ?? ''), 43_200, 'America/Los_Angeles'),
    ).toEqual(fall)
    expect(points(0, 2 * 86_400 - 1, 50_000)).toEqual([0, 50_000, 86_400, 136_400].map(iso))
  })

  it('begins a day at the instant of the change where midnight is skipped (TR-6)', () => {
    // Sao Paulo went from 00:00 to 01:00 on 2018-11-04.
    expect(
      points(
        Date.parse('2018-11-03T12:00:00Z'),
        Date.parse('2018-11-05T12:00:00Z'),
        86_400,
        'America/Sao_Paulo',
      ),
    ).toEqual(['2018-11-03T03:00:00Z', '2018-11-04T03:00:00Z', '2018-11-05T02:00:00Z'])
  })

  it('begins a day once where the clock steps back over midnight (TR-6)', () => {
    // Sao Paulo went from 00:00 of 2018-02-18 back to 23:00; Newfoundland from 00:01 of 2010-11-07 back to 23:01.
    expect(
      points(
        Date.parse('2018-02-18T02:30:00Z'),
        Date.parse('2018-02-18T04:00:00Z'),
        86_400,
        'America/Sao_Paulo',
      ),
    ).toEqual(['2018-02-17T02:00:00Z', '2018-02-18T03:00:00Z'])
    expect(
      points(
        Date.parse('2010-11-07T02:45:00Z'),
        Date.parse('2010-11-08T04:00:00Z'),
        86_400,
        'America/St_Johns',
      ),
    ).toEqual(['2010-11-07T02:30:00Z', '2010-11-08T03:30:00Z'])
  })

  it('has no point for a day that a zone skipped (TR-6)', () => {
    expect(
      points(Date.parse('2011-12-29T20:00:00Z'), Date.parse('2012-01-01T00:00:00Z'), 86_400, 'Pacific/Apia'),
    ).toEqual(['2011-12-29T10:00:00Z', '2011-12-30T10:00:00Z', '2011-12-31T10:00:00Z'])
  })

  it('aligns weeks to Monday, months and years to their first day (TR-6)', () => {
    expect(points('now', 'now', 604_800, 'Europe/Berlin')).toEqual(['2026-11-15T23:00:00Z'])
    expect(points('now-2mo', 'now', 2_592_000, 'Europe/Berlin')).toEqual([
      '2026-08-31T22:00:00Z',
      '2026-09-30T22:00:00Z',
      '2026-10-31T23:00:00Z',
    ])
    expect(points('now-1y', 'now', 31_536_000)).toEqual(['2025-01-01T00:00:00Z', '2026-01-01T00:00:00Z'])
  })
})

describe('the grid of any range in any zone', () => {
  const day = 86_400_000
  const zone = fc.constantFrom(...ZONES)
  const instantMs = fc.integer({ min: Date.UTC(1901, 0, 1), max: Date.UTC(2249, 0, 1) })
  const step = fc.oneof(
    fc.constantFrom(...STEP_LADDER),
    fc.integer({ min: 1, max: 86_400 }),
    fc.integer({ min: 1, max: 400 }).map((days) => days * 86_400),
  )
  const lengthMs = fc.oneof(...[3 * day, 800 * day, 1e13].map((max) => fc.integer({ min: 0, max })))

  it('has at most 1000 ascending points, the first ≤ start, the last ≤ end (TR-5, TR-6)', () => {
    fc.assert(
      fc.property(zone, instantMs, lengthMs, step, (timezone, startMs, lengthMs, stepSeconds) => {
        const endMs = Math.min(startMs + lengthMs, Date.UTC(2249, 11, 1))
        const absolute = (epochMs: number) => ({ field: 'x', kind: 'absolute', epochMs }) as const
        const range = { start: absolute(startMs), end: absolute(endMs), stepSeconds, timezone }
        const grid = resolveTimeRange(range, NOW)
        expect(grid.points.length).toBeLessThanOrEqual(1000)
        expect(grid.points.every((point, i) => i === 0 || point > (grid.points[i - 1] ?? 0))).toBe(true)
        expect((grid.points[0] ?? Number.NaN) * 1000).toBeLessThanOrEqual(startMs)
        expect((grid.points[1] ?? Infinity) * 1000).toBeGreaterThan(startMs)
        expect((grid.points.at(-1) ?? Number.NaN) * 1000).toBeLessThanOrEqual(endMs)
        expect(grid.isAdjusted).toBe(grid.stepSeconds !== stepSeconds)
        expect(grid.isAdjusted ? STEP_LADDER : [stepSeconds]).toContain(grid.stepSeconds)
        expect(grid.stepSeconds).toBeGreaterThanOrEqual(stepSeconds)
      }),
      { numRuns: 150 },
    )
  })

  it('is a part of one grid that does not depend on the range, so that no point is left out (TR-6)', () => {
    const margin = fc.integer({ min: 0, max: 3 * day })
    fc.assert(
      fc.property(
        zone,
        instantMs,
        margin,
        step,
        margin,
        margin,
        (name, startMs, length, step, before, after) => {
          fc.pre(step >= 600)
          const zone = timeZone(name)
          const endMs = startMs + length
          const wide = [...(gridPoints(zone, startMs - before, endMs + after, step, 1e6) ?? [])]
          const first = wide.findLast((point) => point * 1000 <= startMs) ?? Number.NaN
          expect([...(gridPoints(zone, startMs, endMs, step, 1e6) ?? [])]).toEqual(
            wide.filter((point) => point >= first && point * 1000 <= endMs),
          )
        },
      ),
      { numRuns: 150 },
    )
  })

  it('shows local times that are aligned, by another clock than ours (TR-6)', () => {
    fc.assert(
      fc.property(zone, instantMs, fc.constantFrom(...STEP_LADDER), (name, startMs, step) => {
        const points = gridPoints(timeZone(name), startMs, startMs + 20 * step * 1000, step, 1e6) ?? []
        for (const point of [...points].slice(0, 12)) {
          const clock = wallClock(name, point)
          const earlier = wallClock(name, point - 1)
          if (step >= 86_400) expect(clock.date).not.toBe(earlier.date)
          // The day of a point that is not at midnight began with a change of the clock.
          const hasPlainDay = wallClock(name, point - clock.secondOfDay).secondOfDay === 0
          if (hasPlainDay) expect(clock.secondOfDay % Math.min(step, 86_400)).toBe(0)
          if (step === 604_800) expect([clock.weekday, earlier.weekday]).toSatisfy(isMonday)
          if (step === 2_592_000) expect(clock.month).not.toBe(earlier.month)
          if (step === 31_536_000) expect(clock.year).not.toBe(earlier.year)
        }
      }),
      { numRuns: 200 },
    )
    function isMonday([weekday, earlier]: string[]) {
      return weekday === 'Mon' || (weekday === 'Tue' && earlier === 'Sun')
    }
  })

  it('has days that a day after leads from one to the next, as windows of a day need (TR-3, FN-2)', () => {
    fc.assert(
      fc.property(zone, instantMs, fc.constantFrom('d', 'w', 'mo', 'y'), (name, startMs, unit) => {
        const zone = timeZone(name)
        const step = { d: 86_400, w: 604_800, mo: 2_592_000, y: 31_536_000 }[unit]
        const points = gridPoints(zone, startMs, startMs + 20 * step * 1000, step, 1e6) ?? []
        const next = [...points].map((point) => addPeriod(zone, point * 1000, { count: 1, unit }, 1) / 1000)
        expect(next.slice(0, -1)).toEqual([...points].slice(1))
      }),
      { numRuns: 150 },
    )
  })

  it('is one and the same for all that ask up to now within a second, and another one behind a point (TR-4)', () => {
    const range = parseTimeRange({ start: 'now-1h', end: 'now', step: 60 })
    const startOfSecond = Date.UTC(2026, 10, 21, 8, 31, 59)
    const grid = resolveTimeRange(range, startOfSecond)
    expect(resolveTimeRange(range, startOfSecond + 999)).toBe(grid)
    expect(resolveTimeRange(range, startOfSecond + 1000).points.at(-1)).toBe(
      (grid.points.at(-1) ?? Number.NaN) + 60,
    )
  })
})
