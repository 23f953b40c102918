import type { Coverage } from './data-version-store.ts'

/** What a batch of records touches. Times are inclusive; null stands for any name. */
export interface Touches {
  readonly names: readonly string[] | null
  readonly fromMicros: number
  readonly toMicros: number
}

/** Does something that is written lie in the covered part of the data? */
export function touchesCoverage(touches: Touches, { names, fromMicros, toMicros }: Coverage): boolean {
  if ((toMicros !== null && touches.fromMicros > toMicros) || touches.toMicros < (fromMicros ?? -Infinity)) {
    return false
  }
  return names === null || touches.names === null || touches.names.some((name) => names.includes(name))
}

/** The records of a chain above a block, from batches before the number of the rollback. */
export interface OpenRollback {
  readonly chain: string
  readonly aboveBlock: number
  readonly beforeSequence: number
}

/**
 * A state of the data in the middle of writes: what the batches up to `upTo` hold, without those in `except`, which are being stored, and
 * without what rollbacks are taking away. It matters from `fromMicros` on; before, nothing is being written.
 */
export interface Snapshot {
  readonly upTo: number
  readonly except: readonly number[]
  /** What rollbacks under way take away. */
  readonly rollbacks: readonly OpenRollback[]
  readonly fromMicros: number
}

/** How one computation reads. */
export interface Reading {
  /** The number of changes that it includes (CA-6). */
  readonly dataVersion: number
  /** Null where nothing is written meanwhile, and all that is there may be read. */
  readonly snapshot: Snapshot | null
  /** May what was computed earlier stand for a part of it? */
  readonly mayReuse: boolean
  /** Has something done as soon as it is sure that only this state was seen. */
  whenUndisturbed(work: () => void): void
}
