/** An answer that is ready to be given, and its length as JSON. */
export interface CacheEntry {
  readonly value: unknown
  readonly bytes: number
  readonly computedAt: number
  readonly computeCostMs: number
  readonly usedAt: number
}

/** The most recently used answers, bounded by the sum of their bytes. */
export interface MemoryLevel {
  get(key: string): CacheEntry | undefined
  /** Does not replace an answer that was computed later. */
  put(key: string, entry: CacheEntry): void
}

/** Keeps answers in order of use; one that is larger than a quarter of the room is not kept. */
export function createMemoryLevel(bytesMax: number): MemoryLevel {
  const entries = new Map<string, CacheEntry>()
  let bytes = 0

  function remove(key: string): void {
    bytes -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }

  return {
    get: (key) => {
      const entry = entries.get(key)
      if (entry) {
        entries.delete(key)
        entries.set(key, entry)
      }
      return entry
    },
    put: (key, entry) => {
      const known = entries.get(key)
      if (known && known.computedAt > entry.computedAt) return
      remove(key)
      if (entry.bytes > bytesMax / 4) return
      entries.set(key, entry)
      bytes += entry.bytes
      for (const oldest of entries.keys()) {
        if (bytes <= bytesMax) break
        remove(oldest)
      }
    },
  }
}
