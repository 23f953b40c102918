/** Values of projects in memory, bounded by the sum of their bytes. */
export interface FairMemory<Value> {
  /** Using a value keeps it longer. */
  get(key: string): Value | undefined
  /** Replaces what the key had. Does nothing for a value that would take more than a quarter of the room. */
  put(key: string, projectId: number, value: Value, bytes: number): void
  /** Accounts for `more` bytes of a value that is held. False, and nothing done, where there is no room for them. */
  grow(key: string, more: number): boolean
}

interface Held<Value> {
  readonly projectId: number
  readonly value: Value
  bytes: number
}

/** The values of one project in order of use. */
interface Share<Value> {
  readonly entries: Map<string, Held<Value>>
  bytes: number
}

/** One value takes at most this part of the room. */
const LARGEST_PART = 4

/**
 * When room is needed, the project that holds most gives up what it has not used for longest: so a project can drive out its own values, and
 * those of others only as long as they hold more. Whatever the number of projects, each keeps its fair part.
 */
export function createFairMemory<Value>(bytesMax: number): FairMemory<Value> {
  const all = new Map<string, Held<Value>>()
  const shares = new Map<number, Share<Value>>()
  let bytes = 0

  function remove(key: string): void {
    const held = all.get(key)
    const share = held && shares.get(held.projectId)
    if (!held || !share) return
    all.delete(key)
    share.entries.delete(key)
    share.bytes -= held.bytes
    bytes -= held.bytes
    if (share.entries.size === 0) shares.delete(held.projectId)
  }

  function shareOf(projectId: number): Share<Value> {
    const known = shares.get(projectId) ?? { entries: new Map<string, Held<Value>>(), bytes: 0 }
    shares.set(projectId, known)
    return known
  }

  function add(held: Held<Value>, more: number): void {
    held.bytes += more
    shareOf(held.projectId).bytes += more
    bytes += more
    while (bytes > bytesMax) {
      const largest = [...shares.values()].reduce((a, b) => (b.bytes > a.bytes ? b : a))
      const [oldest] = largest.entries.keys()
      if (oldest === undefined) return
      remove(oldest)
    }
  }

  return {
    get: (key) => {
      const held = all.get(key)
      if (!held) return undefined
      const { entries } = shareOf(held.projectId)
      entries.delete(key)
      entries.set(key, held)
      return held.value
    },
    put: (key, projectId, value, size) => {
      remove(key)
      if (size > bytesMax / LARGEST_PART) return
      const held = { projectId, value, bytes: 0 }
      all.set(key, held)
      shareOf(projectId).entries.set(key, held)
      add(held, size)
    },
    grow: (key, more) => {
      const held = all.get(key)
      if (!held || held.bytes + more > bytesMax / LARGEST_PART) return false
      add(held, more)
      return true
    },
  }
}
