/** Lanes that may have something to send: their ids, or null for any. */
export type LaneIds = readonly number[] | null

/** Gathers lanes until somebody looks at them. */
export interface DueLanes {
  add(laneIds: LaneIds): void
  /** Those that were added first and not taken yet, `max` at most, or null for any; undefined if there are none. */
  take(max?: number): LaneIds | undefined
  isEmpty(): boolean
}

/** Beyond so many it costs no more to look at all. */
const LANES_MAX = 1000

/** Nothing is due at first. */
export function createDueLanes(lanesMax = LANES_MAX): DueLanes {
  const some = new Set<number>()
  let isAny = false
  return {
    add(laneIds) {
      for (const laneId of laneIds ?? []) some.add(laneId)
      isAny ||= laneIds === null || some.size > lanesMax
      if (isAny) some.clear()
    },
    take(max = Infinity) {
      if (isAny) {
        isAny = false
        return null
      }
      const taken = some.values().take(max).toArray()
      for (const laneId of taken) some.delete(laneId)
      return taken.length > 0 ? taken : undefined
    },
    isEmpty: () => !isAny && some.size === 0,
  }
}
