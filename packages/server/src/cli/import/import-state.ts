import { createHash } from 'node:crypto'
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'

/** Which rows the service has on disk. */
export interface Done {
  readonly rows: number
  /** Hash of what was made of them, batch by batch. */
  readonly hash: string
}

/** How far an import got, in a file beside the imported one, so that it goes on there. */
export interface ImportState {
  readonly done: Done
  /** The file is not the one that it was: whether the rows that are done are in it must be seen. */
  readonly hasChanged: boolean
  save(done: Done): void
  /** To be called at the end of the file. */
  clear(): void
}

interface Kept extends Done {
  readonly size: number
  readonly mtimeMs: number
}

/** Opens the state of the import of a file in one way; another way (another project, mapping or batch size) has a state of its own. */
export function openImportState(path: string, way: unknown): ImportState {
  const key = createHash('sha256').update(JSON.stringify(way)).digest('hex').slice(0, 12)
  const statePath = `${path}.${key}.import`
  const { size, mtimeMs } = statSync(path)
  const before = read(statePath)
  return {
    done: before ?? { rows: 0, hash: '' },
    hasChanged: before !== null && (before.size !== size || before.mtimeMs !== mtimeMs),
    save({ rows, hash }) {
      // Renamed into place: an interruption leaves the state of before.
      const kept: Kept = { size, mtimeMs, rows, hash }
      writeFileSync(`${statePath}.new`, JSON.stringify(kept))
      renameSync(`${statePath}.new`, statePath)
    },
    clear: () => rmSync(statePath, { force: true }),
  }
}

function read(path: string): Kept | null {
  try {
    const kept = JSON.parse(readFileSync(path, 'utf8')) as Partial<Kept>
    // One of an earlier version tells too little: what is imported is recognised by its batches.
    return kept.hash === undefined ? null : (kept as Kept)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
