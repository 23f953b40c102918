import type { DataOwner, DataVersion } from './data-version-store.ts'

/** What changed of one name since a data version (CA-6), all chains together. */
export interface NameChanges {
  /** The last change of which nobody knows what it touched. */
  readonly whole: number
  /** The UTC days that changed, and when they last did. */
  readonly days: ReadonlyMap<number, DataVersion>
  /** All chains of the name have data up to here: what comes later without being late lies behind it. Null without any data. */
  readonly frontierMicros: number | null
}

/** Tells what of a name holds still, to the day. */
export interface NameChangesStore {
  /** The data version of an owner, 0 before its first data. To be asked before facts are read. */
  latest(owner: DataOwner): Promise<number>
  /** What changed of `name` after the data version `since`. */
  changesOf(owner: DataOwner, name: string, since: number): Promise<NameChanges>
}
