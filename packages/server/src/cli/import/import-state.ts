import { createHash } from 'node:crypto'
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'

/** How far an import got, in a file beside the imported one, so that it goes on there. */
export interface ImportState {
  /** Rows that the service has on disk. */
  readonly doneRows: number
  save(doneRows: number): void
  /** To be called at the end of the file. */
  clear(): void
}

/**
 * Opens the state of the import of a file in one way; another way (another project, mapping or batch size) has a state of its own.
 * Throws when the file has changed since.
 */
export function openImportState(path: string, way: unknown): ImportState {
  const key = createHash('sha256').update(JSON.stringify(way)).digest('hex').slice(0, 12)
  const statePath = `${path}.${key}.import`
  const { size, mtimeMs } = statSync(path)
  const before = read(statePath)
  if (before && (before.size !== size || before.mtimeMs !== mtimeMs)) {
    throw new Error(
      `${basename(path)} has changed since row ${before.doneRows} of it was imported; batches that are as they were are recognised: remove ${statePath} to begin anew`,
    )
  }
  return {
    doneRows: before?.doneRows ?? 0,
    save(doneRows) {
      // Renamed into place: an interruption leaves the state of before.
      writeFileSync(`${statePath}.new`, JSON.stringify({ size, mtimeMs, doneRows }))
      renameSync(`${statePath}.new`, statePath)
    },
    clear: () => rmSync(statePath, { force: true }),
  }
}

function read(path: string): { size: number; mtimeMs: number; doneRows: number } | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as { size: number; mtimeMs: number; doneRows: number }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
