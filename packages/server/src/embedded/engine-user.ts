import { chmod, chown, lchown, mkdir, readdir, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import type { Logger } from '../platform/logger.ts'

/** Whom the engine's process runs as. */
export interface EngineUser {
  readonly uid: number
  readonly gid: number
}

/** The user that owns nothing else on any Unix (`nobody`). */
const NOBODY: EngineUser = { uid: 65_534, gid: 65_534 }
const PASSABLE_BY_ALL = 0o001

/**
 * Makes the engine's directory, and gives it away when the service itself is started as root: user SQL runs in that
 * process, which then may read nothing of the machine but what everybody may (SQ-2). Null where the process keeps the
 * service's own user: not root, or a directory on the way that only root may enter, which is logged by its name.
 */
export async function prepareEngineUser(directory: string, logger: Logger): Promise<EngineUser | null> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  if (process.getuid?.() !== 0) return null
  const parent = dirname(resolve(directory))
  const { uid, mode } = await stat(parent)
  // The service's own data directory: it may be passed through, but not listed.
  if (uid === 0 && (mode & 0o777) === 0o700) await chmod(parent, 0o711)
  const blockedBy = await findBarrier(directory)
  if (blockedBy !== null) {
    logger.warn({ blockedBy }, 'engine.runs_as_root')
    if ((await stat(directory)).uid !== 0) await chown(directory, 0, 0)
    return null
  }
  if ((await stat(directory)).uid !== NOBODY.uid) await giveAway(directory)
  return NOBODY
}

/** The first directory that another user could not enter on the way to what the engine's process needs. */
async function findBarrier(directory: string): Promise<string | null> {
  const require = createRequire(import.meta.url)
  const needed = [directory, process.execPath, import.meta.filename, require.resolve('chdb')]
  for (const path of needed) {
    for (let above = dirname(resolve(path)); ; above = dirname(above)) {
      if (((await stat(above)).mode & PASSABLE_BY_ALL) === 0) return above
      if (above === dirname(above)) break
    }
  }
  return null
}

/** The directory itself comes last: where it belongs to the user, everything in it does. */
async function giveAway(directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  for (const entry of entries) await lchown(join(entry.parentPath, entry.name), NOBODY.uid, NOBODY.gid)
  await chown(directory, NOBODY.uid, NOBODY.gid)
}
