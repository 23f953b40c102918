import type { Basis } from './data-versions.ts'
import { createFairMemory } from './fair-memory.ts'

/** An answer that is ready to be given. */
export interface CacheEntry {
  readonly value: unknown
  readonly projectId: number
  /** About what the value takes; 0 for an answer that is not kept. */
  readonly bytes: number
  readonly etag: string | null
  readonly computedAt: number
  readonly computeCostMs: number
  readonly usedAt: number
  readonly basis: Basis
  /** Bytes made of the value, by variant. */
  readonly renderings: Map<string, Uint8Array>
}

/** The most recently used answers, bounded by the sum of their bytes, renderings included. */
export interface MemoryLevel {
  get(key: string): CacheEntry | undefined
  /** Does not replace an answer that was computed later. */
  put(key: string, entry: CacheEntry): void
  /** Keeps bytes made of an entry, if it is still the one that is held and there is room. */
  keepRendering(key: string, entry: CacheEntry, variant: string, rendering: Uint8Array): void
}

/** Answers in a memory that is fair to projects. */
export function createMemoryLevel(bytesMax: number): MemoryLevel {
  const memory = createFairMemory<CacheEntry>(bytesMax)
  return {
    get: memory.get,
    put: (key, entry) => {
      const known = memory.get(key)
      if (known && known.computedAt > entry.computedAt) return
      memory.put(key, entry.projectId, entry, entry.bytes + sum(entry.renderings))
    },
    keepRendering: (key, entry, variant, rendering) => {
      if (memory.get(key) !== entry || entry.renderings.has(variant)) return
      if (memory.grow(key, rendering.byteLength)) entry.renderings.set(variant, rendering)
    },
  }
}

function sum(renderings: ReadonlyMap<string, Uint8Array>): number {
  return [...renderings.values()].reduce((total, { byteLength }) => total + byteLength, 0)
}
