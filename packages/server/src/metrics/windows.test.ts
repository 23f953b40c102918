import { array, assert, constant, integer, oneof, property, tuple } from 'fast-check'
import { expect, it } from 'vitest'
import { cellRanges, edgesOf } from './windows.ts'

const edge = oneof({ weight: 8, arbitrary: integer({ min: 0, max: 40 }) }, constant(-Infinity))

it('cuts time at every finite edge once, in order, and finds the cells of each window, whatever the order of windows', () => {
  assert(
    property(array(tuple(edge, integer({ min: 0, max: 40 })), { maxLength: 30 }), (pairs) => {
      const windows = {
        fromMicros: Float64Array.from(pairs, ([from]) => from),
        toMicros: Float64Array.from(pairs, ([from, length]) => Math.max(from, 0) + length),
      }
      const edges = edgesOf(windows)
      const finite = new Set([...windows.fromMicros, ...windows.toMicros].filter(Number.isFinite))
      expect([...edges]).toEqual([...finite].toSorted((a, b) => a - b))
      const below = (limit = 0) => edges.filter((each) => each < limit).length
      const { first, end, longest } = cellRanges(windows, edges)
      expect([...first]).toEqual([...windows.fromMicros].map(below))
      expect([...end]).toEqual([...windows.toMicros].map(below))
      expect(longest).toBe(Math.max(0, ...end.map((each, i) => each - (first[i] ?? 0))))
    }),
  )
})
