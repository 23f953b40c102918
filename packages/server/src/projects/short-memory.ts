import type { Clock } from '../platform/clock.ts'

/** How long another instance's change may go unnoticed. */
const REMEMBERED_MS = 1000
const ENTRIES_MAX = 10_000

/** Remembers what was looked up a moment ago. What was not found is not remembered: it may be made at any time. */
export interface ShortMemory<Value> {
  read(key: string, look: () => Promise<Value | null>): Promise<Value | null>
  /** What is remembered; undefined where somebody would have to look. */
  recall(key: string): Value | undefined
  /** Forgets everything, look-ups under way included; for changes made by this instance. */
  forget(): void
}

/** A memory of one second, counted from the start of the look-up, and of a bounded number of entries. */
export function createShortMemory<Value>(clock: Clock): ShortMemory<Value> {
  const entries = new Map<string, { readonly value: Value; readonly readAt: number }>()
  let generation = 0

  function recall(key: string, now: number): Value | undefined {
    const entry = entries.get(key)
    return entry && now - entry.readAt < REMEMBERED_MS ? entry.value : undefined
  }

  return {
    recall: (key) => recall(key, clock.monotonic()),
    read: async (key, look) => {
      const readAt = clock.monotonic()
      const known = recall(key, readAt)
      if (known !== undefined) return known
      const generationBefore = generation
      const value = await look()
      entries.delete(key)
      if (value === null || generation !== generationBefore) return value
      if (entries.size >= ENTRIES_MAX) entries.delete(entries.keys().next().value ?? '')
      entries.set(key, { value, readAt })
      return value
    },
    forget: () => {
      generation++
      entries.clear()
    },
  }
}
