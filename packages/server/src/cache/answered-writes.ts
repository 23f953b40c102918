import { ServiceError } from '../platform/errors.ts'
import { ownerKey, type Coverage, type DataOwner } from './data-version-store.ts'
import { touchesCoverage, type Touches } from './snapshot.ts'

/**
 * Batches that were answered because they are durable, and are stored where reading finds them a moment later. Whoever sent one must see it in
 * every answer that he asks for afterwards, so readers wait for those that touch what they read.
 */
export interface AnsweredWrites {
  /** Notes a batch before it is answered; the function returned is to be called when it is stored. */
  note(owner: DataOwner, touches: Touches): () => void
  /** Is there any of the version? */
  has(owner: DataOwner): boolean
  /** Resolves when those that are noted now and touch the coverage are stored. Throws `unavailable` when that takes too long. */
  whenStored(owner: DataOwner, coverage: () => Coverage): Promise<void>
}

interface Noted {
  readonly touches: Touches
  readonly stored: Promise<void>
}

/** Storing takes some tens of milliseconds; this long it takes when the engine is away. */
const WAIT_MAX_MS = 10_000

export function createAnsweredWrites(sleep: (ms: number) => Promise<unknown>): AnsweredWrites {
  const writes = new Map<string, Set<Noted>>()
  return {
    note: (owner, touches) => {
      const key = ownerKey(owner)
      const ofOwner = writes.get(key) ?? new Set()
      writes.set(key, ofOwner)
      const { promise, resolve } = Promise.withResolvers<void>()
      const noted = { touches, stored: promise }
      ofOwner.add(noted)
      return () => {
        ofOwner.delete(noted)
        if (ofOwner.size === 0 && writes.get(key) === ofOwner) writes.delete(key)
        resolve()
      }
    },

    has: (owner) => writes.has(ownerKey(owner)),

    whenStored: async (owner, coverageOf) => {
      const ofOwner = writes.get(ownerKey(owner))
      if (!ofOwner) return
      const coverage = coverageOf()
      const met = [...ofOwner].filter(({ touches }) => touchesCoverage(touches, coverage))
      if (met.length === 0) return
      const stored = Promise.all(met.map((each) => each.stored)).then(() => true)
      if (await Promise.race([stored, sleep(WAIT_MAX_MS).then(() => false)])) return
      throw new ServiceError(
        'unavailable',
        'data that was accepted cannot be read yet: the engine of facts is away; ask again',
        { retryAfterSeconds: 5 },
      )
    },
  }
}
