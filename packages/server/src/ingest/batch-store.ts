import type { ChangedDay } from '../cache/data-change.ts'
import type { Touches } from '../cache/snapshot.ts'
import type { ChainHead } from '../delivery/chain-head.ts'
import type { ExportedMessage } from '../delivery/message.ts'
import type { ProjectVersion } from './batch.ts'

/** Who works on a batch, and until when nobody else may take it over. */
export interface BatchLease {
  /** The instance. */
  readonly owner: string
  /** Epoch milliseconds. */
  readonly until: number
}

/** A batch that is about to be stored. */
export interface NewBatch {
  readonly batchId: string
  /** Hash of its body, with the name of the algorithm: the same id with other content is a mistake. */
  readonly contentHash: string
  /** Tables of facts that it writes to; what to clean if it is not finished. */
  readonly tables: readonly string[]
  /** What readers see change while it is stored; absent for anything. */
  readonly touches?: Touches
  /** Of a batch that is answered as soon as it is recorded: what it is stored from if this process does not live to do it. */
  readonly kept?: KeptBatch & { readonly answer: BatchAnswer }
}

/** The body of a batch as it was sent. */
export interface KeptBatch {
  readonly body: Uint8Array
  readonly contentType: string | null
}

/** What an accepted batch was answered, apart from its address. */
export interface BatchAnswer {
  readonly accepted: number
  readonly warnings: readonly string[]
}

/** What became of the wish to store a batch. `open`: it is recorded, to be stored now. `done`: it was answered before. `taken`: another instance is at it, or has died at it. */
export type BatchStart =
  | { readonly state: 'open'; readonly sequence: number }
  | { readonly state: 'done'; readonly contentHash: string; readonly answer: BatchAnswer }
  | { readonly state: 'taken' }

/** A stored batch to be finished: its exports are enqueued and its answer is kept. */
export interface FinishedBatch {
  readonly sequence: number
  readonly accepted: number
  readonly warnings: readonly string[]
  readonly exports: readonly ExportedMessage[]
  /** Its body is kept, and need not be from now on. */
  readonly isKept?: boolean
}

/** What batches that are finished together change. */
export interface BatchChanges {
  readonly days: readonly ChangedDay[]
  /** How far their chains have come. */
  readonly heads: readonly ChainHead[]
}

/** Which records a reorganisation removes (IN-3). */
export interface RollbackOrder {
  readonly chain: string
  readonly aboveBlock: number
}

/**
 * What a dead instance has left: a batch that is in the facts in part or not at all, to be taken back, or stored where it was answered and is
 * kept; or a rollback that is half done.
 */
export type Unfinished = ProjectVersion & { readonly sequence: number } & (
    | { readonly kind: 'batch'; readonly tables: readonly string[]; readonly kept?: KeptBatch }
    | { readonly kind: 'rollback'; readonly order: RollbackOrder }
  )

/**
 * The undo log of ingest, in the control database. A batch is recorded as open before any of its facts are stored, and as done in the transaction
 * that enqueues its exports; so whatever is open after a crash was never answered and is taken back (IN-2). Except where the body is kept:
 * that was answered when it was recorded, and is stored. Sequence numbers rise and are never used again.
 */
export interface BatchStore {
  /** Records batches as open, in one transaction; one result for each, in order. */
  begin(
    version: ProjectVersion,
    batches: readonly NewBatch[],
    lease: BatchLease,
  ): Promise<readonly BatchStart[]>
  /**
   * Enqueues exports, raises the data versions of what the batches changed (CA-6) and records them as done, in one transaction.
   * Throws when one of them is no longer open.
   */
  finish(
    version: ProjectVersion,
    batches: readonly FinishedBatch[],
    changes: BatchChanges,
    nowMs: number,
  ): Promise<readonly BatchAnswer[]>
  /** Is a batch still to be stored? No longer when its version is deleted, or its project removed. */
  isWanted(sequence: number): Promise<boolean>
  /** Keeps batches from being finished any more. Returns those that are done already, with their answers. */
  cancel(sequences: readonly number[]): Promise<ReadonlyMap<number, BatchAnswer>>
  /**
   * Drops the record of batches and rollbacks that are not done: nothing of them is left in the facts. Where facts were removed, the data
   * versions of what they touched are raised with it (CA-6).
   */
  forget(sequences: readonly number[], hasRemovedFacts: boolean): Promise<void>
  /** Records a rollback as open, withdraws pending exports and raises the data versions of the days it touches, in one transaction. */
  beginRollback(
    version: ProjectVersion,
    order: RollbackOrder,
    lease: BatchLease,
  ): Promise<{ readonly sequence: number; readonly withdrawnExports: number }>
  /**
   * Takes over what other owners left unfinished and returns it, oldest first: all of it when `isSole`, else what has an expired lease.
   */
  takeOver(
    claim: { readonly nowMs: number; readonly isSole: boolean } & BatchLease,
  ): Promise<readonly Unfinished[]>
  /** Raises everything of a version: whatever was answered from it may have been wrong (CA-6). */
  raise(version: ProjectVersion): Promise<void>
  /**
   * Of a deleted version: keeps what other instances are storing from being finished, and raises everything, so that no answer made of its
   * data is given again (CA-6). `begin` and `finish` refuse batches of deleted versions with `invalid_argument`.
   */
  endVersion(version: ProjectVersion): Promise<void>
  /** Which of the versions are deleted. */
  findDeleted(versions: readonly ProjectVersion[]): Promise<readonly ProjectVersion[]>
  /** Drops the memory of batches done before `beforeMs`; a batch id repeated after that is a new batch. Returns how many. */
  expire(beforeMs: number): Promise<number>
}
