import { describe, expect, it } from 'vitest'
import { gridPoints } from '../metrics/grid.ts'
import { edgesOf, windowsOf } from '../metrics/windows.ts'
import { timeZone } from '../metrics/time-zone.ts'
import type { PeriodUnit } from '../metrics/period.ts'
import { cellExpression } from './series-source-cell.ts'

const zone = timeZone('America/Los_Angeles')

function edges(days: number, stepSeconds: number, count: number, unit: PeriodUnit): Float64Array {
  const endMs = Date.UTC(2026, 10, 21)
  const points = gridPoints(zone, endMs - days * 86_400_000, endMs, stepSeconds, 1e5) ?? new Float64Array()
  const grid = { zone, points, stepSeconds, isAdjusted: false }
  return edgesOf(windowsOf({ kind: 'trailing', period: { count, unit } }, grid))
}

describe('the cell of a sample', () => {
  it.each([
    ['windows of the step', edges(30, 3600, 1, 'h'), /^toInt64\(0 \+ intDiv/],
    [
      'windows shorter than the step',
      edges(30, 3600, 5, 'm'),
      /^toInt64\(0 \+ 2 \* intDiv.* % 3600000000 >= /,
    ],
    ['windows of a day over a clock change', edges(30, 3600, 1, 'd'), /^(multiIf|toInt64)/],
    ['days over a clock change', edges(60, 86_400, 1, 'd'), /^multiIf/],
  ])('is found by division for %s', (_, edges, expected) => {
    const { sql } = cellExpression(edges)
    expect(sql).toMatch(expected)
    expect(sql).not.toMatch(/roundDown/)
    expect(sql.length).toBeLessThan(1500)
  })

  it('is searched where edges are irregular', () => {
    const months = edges(3000, 2_592_000, 1, 'mo')
    const { sql, cellOf } = cellExpression(months)
    expect(sql).toMatch(/^roundDown\(t, cast\(\[\d+, /)
    expect(Array.from(months, cellOf)).toEqual(Array.from(months.keys()))
  })
})
