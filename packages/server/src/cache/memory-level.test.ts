import { array, assert, integer, property, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryLevel, type CacheEntry } from './memory-level.ts'

const entry = (bytes: number, computedAt = 0, projectId = 1): CacheEntry => ({
  value: bytes,
  projectId,
  bytes,
  etag: null,
  computedAt,
  computeCostMs: 0,
  usedAt: 0,
  basis: {
    owner: { projectId, version: 1 },
    coverage: { names: null, fromMicros: null, toMicros: null },
    signature: '',
    dataVersion: 0,
    heights: {},
    newData: 'wait',
  },
  renderings: new Map(),
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

  it('takes room from the project that holds most, so that one cannot drive out the answers of others', () => {
    const level = createMemoryLevel(100)
    for (const key of ['a', 'b']) level.put(key, entry(10, 0, 7))
    for (let i = 0; i < 50; i++) level.put(`flood ${i}`, entry(10, 0, 8))
    expect(
      ['a', 'b', 'flood 40', 'flood 41', 'flood 42', 'flood 49'].filter((key) => level.get(key)),
    ).toEqual(['a', 'b', 'flood 42', 'flood 49'])
  })

  it('counts what was made of an answer, and keeps it as long as the answer', () => {
    const level = createMemoryLevel(100)
    const first = entry(10)
    level.put('a', first)
    level.keepRendering('a', first, 'br', new Uint8Array(15))
    level.keepRendering('a', first, 'gzip', new Uint8Array(1))
    expect([...(level.get('a')?.renderings.keys() ?? [])]).toEqual(['br'])
    for (const key of ['b', 'c', 'd', 'e', 'f', 'g', 'h']) level.put(key, entry(10))
    expect(level.get('a')).toBe(first)
    for (const key of ['i', 'j', 'k', 'l', 'm', 'n', 'o', 'p']) level.put(key, entry(10))
    expect(level.get('a')).toBeUndefined()
    level.keepRendering('a', first, 'zstd', new Uint8Array(1))
    expect(first.renderings.has('zstd')).toBe(false)
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
