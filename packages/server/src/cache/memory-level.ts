import type { Basis } from './data-versions.ts'

/** An answer that is ready to be given. */
export interface CacheEntry {
  readonly value: unknown
  readonly projectId: number
  /** Length of the value as JSON; 0 for an answer that is not kept. */
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

interface Held {
  readonly entry: CacheEntry
  bytes: number
}

/** The answers of one project in order of use. */
interface Share {
  readonly entries: Map<string, Held>
  bytes: number
}

/** One answer takes at most this part of the room. */
const LARGEST_PART = 4

/**
 * When room is needed, the project that holds most gives up what it has not used for longest: so a project can drive out its own answers, and
 * those of others only as long as they hold more. Whatever the number of projects, each keeps its fair part.
 */
export function createMemoryLevel(bytesMax: number): MemoryLevel {
  const shares = new Map<number, Share>()
  const owners = new Map<string, number>()
  let bytes = 0

  function find(key: string): Held | undefined {
    const owner = owners.get(key)
    return owner === undefined ? undefined : shares.get(owner)?.entries.get(key)
  }

  function remove(key: string): void {
    const owner = owners.get(key)
    const share = owner === undefined ? undefined : shares.get(owner)
    const held = share?.entries.get(key)
    if (owner === undefined || !share || !held) return
    share.entries.delete(key)
    owners.delete(key)
    share.bytes -= held.bytes
    bytes -= held.bytes
    if (share.entries.size === 0) shares.delete(owner)
  }

  function shareOf(projectId: number): Share {
    const known = shares.get(projectId) ?? { entries: new Map(), bytes: 0 }
    shares.set(projectId, known)
    return known
  }

  function add(share: Share, held: Held, more: number): void {
    held.bytes += more
    share.bytes += more
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
      const held = find(key)
      if (!held) return undefined
      const share = shareOf(held.entry.projectId)
      share.entries.delete(key)
      share.entries.set(key, held)
      return held.entry
    },
    put: (key, entry) => {
      const known = find(key)
      if (known && known.entry.computedAt > entry.computedAt) return
      remove(key)
      const size = entry.bytes + sum(entry.renderings)
      if (size > bytesMax / LARGEST_PART) return
      const share = shareOf(entry.projectId)
      const held = { entry, bytes: 0 }
      share.entries.set(key, held)
      owners.set(key, entry.projectId)
      add(share, held, size)
    },
    keepRendering: (key, entry, variant, rendering) => {
      const held = find(key)
      if (held?.entry !== entry || entry.renderings.has(variant)) return
      if (held.bytes + rendering.byteLength > bytesMax / LARGEST_PART) return
      entry.renderings.set(variant, rendering)
      add(shareOf(entry.projectId), held, rendering.byteLength)
    },
  }
}

function sum(renderings: ReadonlyMap<string, Uint8Array>): number {
  return [...renderings.values()].reduce((total, { byteLength }) => total + byteLength, 0)
}
