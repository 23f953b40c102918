import type { OpenRollback, Touches } from './snapshot.ts'

/** The processor version whose data an answer is made of (IN-4). */
export interface DataOwner {
  readonly projectId: number
  readonly version: number
}

/** Names a processor version among all. */
export function ownerKey({ projectId, version }: DataOwner): string {
  return `${projectId}/${version}`
}

/**
 * Data versions count the changes of a processor version's data (CA-6). `late` is the latest change that was not new data at an
 * open end: data behind the newest of its name and chain, the first of a name, a rollback.
 */
export interface DataVersion {
  readonly latest: number
  readonly late: number
}

/** What is known of a processor version now. */
export interface CurrentVersion extends DataVersion {
  /** It was deleted with its data: no answer made of them may be given again. */
  readonly isDeleted: boolean
}

/** A batch that is being stored or taken back, or a rollback under way: some of what it does may be seen already. */
export interface OpenWrite {
  readonly sequence: number
  /** What a rollback takes away; null for a batch. */
  readonly rollback: OpenRollback | null
  /** Null stands for anything. */
  readonly touches: Touches | null
}

/** The state of a processor version's data at one moment. */
export interface DataView extends DataVersion {
  /** The number of the rollback that began last; 0 when there was none. */
  readonly lastRollback: number
  /** The highest number of a batch so far. */
  readonly upTo: number
  readonly open: readonly OpenWrite[]
  /** The highest block of each chain that the data holds; of a hundred chains at most, in their order. */
  readonly heights: Readonly<Record<string, number>>
}

/** The part of the data that an answer depends on. Times are inclusive; null stands for all names, the beginning, no end. */
export interface Coverage {
  readonly names: readonly string[] | null
  readonly fromMicros: number | null
  readonly toMicros: number | null
}

/** Data versions as the control database holds them. */
export interface DataVersionStore {
  current(owner: DataOwner): Promise<CurrentVersion>
  /** The same with the writes under way, all of one moment. */
  view(owner: DataOwner): Promise<DataView>
  /** The UTC days, counted from 1970-01-01, of the covered part that changed after a data version; null when anything may have. */
  changedDays(owner: DataOwner, coverage: Coverage, after: number): Promise<readonly number[] | null>
  /** The versions at which the covered part was last changed, to the day. */
  covered(owner: DataOwner, coverage: Coverage): Promise<DataVersion>
  /** Up to where every name and chain of the coverage has data: later data of theirs is at the open end. Null when there is none at all. */
  frontierMicros(owner: DataOwner, coverage: Coverage): Promise<number | null>
}
