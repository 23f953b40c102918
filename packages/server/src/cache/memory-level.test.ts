import { array, assert, integer, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryLevel } from './memory-level.ts'

const entry = (bytes: number, computedAt = 0) => ({
  value: bytes,
  bytes,
  computedAt,
  computeCostMs: 0,
  usedAt: 0,
})

describe('memory level of the cache', () => {
  it('drops the least recently used when the bytes run out', () => {
    const level = createMemoryLevel(40)
    for (const key of ['a', 'b', 'c', 'd']) level.put(key, entry(10))
    level.get('a')
    level.put('e', entry(10))
    expect(['a', 'b', 'c', 'd', 'e'].filter((key) => level.get(key))).toEqual(['a', 'c', 'd', 'e'])
  })

  it('keeps the answer that was computed later', () => {
    const level = createMemoryLevel(1000)
    level.put('a', entry(2, 20))
    level.put('a', entry(1, 10))
    expect(level.get('a')?.computedAt).toBe(20)
    level.put('a', entry(3, 20))
    expect(level.get('a')?.bytes).toBe(3)
  })

  it('does not keep an answer that would drive out most others', () => {
    const level = createMemoryLevel(40)
    level.put('a', entry(11))
    expect(level.get('a')).toBeUndefined()
  })

  it('never holds more bytes than it may', () => {
    const puts = array(
      record({
        key: integer({ min: 0, max: 9 }),
        bytes: integer({ min: 1, max: 40 }),
        at: integer({ min: 0, max: 3 }),
      }),
    )
    assert(
      property(puts, (operations) => {
        const level = createMemoryLevel(100)
        for (const { key, bytes, at } of operations) level.put(String(key), entry(bytes, at))
        const held = Array.from({ length: 10 }, (_, key) => level.get(String(key))?.bytes ?? 0)
        expect(held.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(100)
      }),
    )
  })
})
