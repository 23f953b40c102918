import { array, assert, integer, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fairLevel } from './fair-level.ts'

describe('fair level', () => {
  it.each([
    [[], 10, Infinity],
    [[4, 6], 10, Infinity],
    [[4, 7], 10, 6],
    [[1, 20, 30], 11, 5],
    [[5], 0, 0],
  ])('of the shares %j in a room of %s is %s', (shares, room, level) => {
    expect(fairLevel(shares, room)).toBe(level)
  })

  it('fills the room and no more, and takes nothing from who holds less', () => {
    assert(
      property(array(integer({ min: 1, max: 1000 })), integer({ min: 0, max: 5000 }), (shares, room) => {
        const level = fairLevel(shares, room)
        const kept = shares.map((share) => Math.min(share, level)).reduce((sum, share) => sum + share, 0)
        expect(kept).toBeLessThanOrEqual(room)
        if (level !== Infinity) expect(kept + shares.length).toBeGreaterThan(room)
      }),
    )
  })
})
