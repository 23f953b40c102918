/** Lanes that may have something to send: their ids, or null for any. */
export type LaneIds = readonly number[] | null

/** Gathers lanes until somebody looks at them. */
export interface DueLanes {
  add(laneIds: LaneIds): void
  /** What was added since the last time; undefined if nothing was. */
  take(): LaneIds | undefined
}

/** Beyond so many it costs no more to look at all. */
const LANES_MAX = 1000

/** Nothing is due at first. */
export function createDueLanes(): DueLanes {
  let some = new Set<number>()
  let isAny = false
  return {
    add(laneIds) {
      for (const laneId of laneIds ?? []) some.add(laneId)
      isAny ||= laneIds === null || some.size > LANES_MAX
      if (isAny) some.clear()
    },
    take() {
      const taken = isAny ? null : some.size > 0 ? [...some] : undefined
      some = new Set()
      isAny = false
      return taken
    },
  }
}
