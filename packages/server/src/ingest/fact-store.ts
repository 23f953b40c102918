import type { Batch, ProjectVersion } from './batch.ts'

/** A batch on its way into the facts, under the number by which it can be taken back. */
export interface NumberedBatch {
  readonly sequence: number
  readonly batch: Batch
}

/** Which facts a reorganisation removes (IN-3): those of `chain` above `aboveBlock`, as far as they came before `beforeSequence`. */
export interface FactRollback {
  readonly chain: string
  readonly aboveBlock: number
  readonly beforeSequence: number
}

/**
 * Where samples and events are kept, by processor version. The writes of one version come one after another; those of several
 * instances may meet. Throws `unavailable` while the engine is away.
 */
export interface FactStore {
  /** The tables that the batch writes to. */
  tablesOf(batch: Batch): readonly string[]
  /**
   * Makes room for the batch: tables, columns, series, the views that users see. Throws `invalid_argument` when the batch contradicts what
   * is there (a changed type, a name taken by the other kind, a limit). Returns warnings for the sender.
   */
  prepare(version: ProjectVersion, batch: Batch): Promise<readonly string[]>
  /** Is everything there that `prepare` would make? Then it need not be called. */
  isPrepared(version: ProjectVersion, batch: Batch): Promise<boolean>
  /**
   * Stores prepared batches. Repeating it with the same batches changes nothing, also while an earlier try still runs; except under another
   * `attempt`, for batches that were erased meanwhile.
   */
  write(version: ProjectVersion, batches: readonly NumberedBatch[], attempt?: string): Promise<void>
  /** Removes what batches have stored. Tables that do not exist are passed over. */
  erase(version: ProjectVersion, sequences: readonly number[], tables: readonly string[]): Promise<void>
  rollBack(version: ProjectVersion, rollback: FactRollback): Promise<void>
  /** Makes anew what earlier builds derived wrongly from samples, of all versions. Tells the version of each place that is done; the next call finds none. */
  mendHours(): AsyncIterable<ProjectVersion>
  /** Removes everything of one version. */
  dropVersion(version: ProjectVersion): Promise<void>
  /** The versions that something is kept of. */
  findVersions(): Promise<readonly ProjectVersion[]>
  /** Removes everything of a project, all versions. */
  dropProject(projectId: number): Promise<void>
}
