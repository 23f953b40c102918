/** Values that were used last, within a bound. */
export interface RecentValues<Value> {
  get(key: string): Value | undefined
  /** Keeps a value of a size, and forgets the ones that were not used for longest where the bound is passed. */
  put(key: string, value: Value, size: number): void
}

/** An empty memory for values of `sizeMax` together. */
export function createRecentValues<Value>(sizeMax: number): RecentValues<Value> {
  /** Least recently used first. */
  const entries = new Map<string, { readonly value: Value; readonly size: number }>()
  let total = 0

  function forget(key: string): void {
    total -= entries.get(key)?.size ?? 0
    entries.delete(key)
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (!entry) return undefined
      entries.delete(key)
      entries.set(key, entry)
      return entry.value
    },
    put(key, value, size) {
      forget(key)
      if (size > sizeMax) return
      entries.set(key, { value, size })
      total += size
      for (const oldest of entries.keys()) {
        if (total <= sizeMax) break
        forget(oldest)
      }
    },
  }
}
