import { SqliteDriver, type DatabaseConnection, type SqliteDialectConfig } from 'kysely'
import type { LogFile } from './sqlite-log-file.ts'
import { createLogSync, type LogSync } from './sqlite-log-sync.ts'

/**
 * One connection, which callers have one after the other. A commit only writes the log; whoever made it is answered when the log is on
 * the disk, as with `synchronous = full`, but the next caller has the connection meanwhile and the event loop is free: a disk that
 * takes its time, as each does now and then, delays those who wait for it and nobody else.
 */
export class SyncingSqliteDriver extends SqliteDriver {
  readonly #file: LogFile
  readonly #log: LogSync
  #turn: Promise<void> = Promise.resolve()
  #endTurn: () => void = () => undefined
  #hasChanged = false
  #isWaitingForDisk = true

  constructor(config: SqliteDialectConfig, file: LogFile) {
    super(config)
    this.#file = file
    this.#log = createLogSync(() => file.sync())
  }

  /** To be told of every statement that changes something. */
  noteChange(): void {
    this.#hasChanged = true
  }

  /** Whoever has the connection is answered without waiting for the disk. */
  doNotWaitForDisk(): void {
    this.#isWaitingForDisk = false
  }

  /** Resolves when everything is on the disk that others were to be told of only then. */
  synced(): Promise<void> {
    return this.#log.synced()
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#turn
    const turn = Promise.withResolvers<void>()
    this.#turn = turn.promise
    await before
    this.#endTurn = turn.resolve
    return super.acquireConnection()
  }

  override async releaseConnection(): Promise<void> {
    const isToBeSynced = this.#hasChanged && this.#isWaitingForDisk
    this.#hasChanged = false
    this.#isWaitingForDisk = true
    if (isToBeSynced) this.#log.noteCommit()
    this.#endTurn()
    if (isToBeSynced) await this.#log.synced()
  }

  override async destroy(): Promise<void> {
    await this.#log.synced().catch(() => undefined)
    await super.destroy()
    await this.#file.close()
  }
}
