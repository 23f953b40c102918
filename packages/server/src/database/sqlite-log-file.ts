import { open, type FileHandle } from 'node:fs/promises'

/** The log of a SQLite database, as far as the disk is concerned. */
export interface LogFile {
  /** Resolves when everything is on the disk that was in the log when it was called. */
  sync(): Promise<void>
  close(): Promise<void>
}

/** The log of the database at `path`, `:memory:` for one that has none. It exists from the first commit on, as long as a connection is open. */
export function createLogFile(path: string): LogFile {
  let file: Promise<FileHandle> | null = null
  return {
    async sync() {
      if (path === ':memory:') return
      file ??= open(`${path}-wal`, 'r+')
      await (await file).datasync()
    },
    async close() {
      const opened = await file?.catch(() => null)
      await opened?.close()
    },
  }
}
