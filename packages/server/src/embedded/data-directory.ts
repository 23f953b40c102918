import { execFileSync } from 'node:child_process'
import {
  access,
  constants,
  link,
  mkdir,
  open,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  writeFile,
} from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { ServiceError } from '../platform/errors.ts'
import { randomId } from '../platform/ids.ts'

/** Who holds a data directory, as its lock file says. */
interface Holder {
  readonly pid: number
  /** When that process started, in the operating system's words; tells it from a later one with the same number. */
  readonly startedAt: string
  readonly host: string
}

interface ClaimOptions {
  /** Free space below which the service does not start. */
  readonly minimumFreeBytes?: number
  /**
   * Called once when another process has the directory, or the lock is gone: this one stood still for so long that it was taken for dead,
   * and must not write any more.
   */
  readonly onLost?: () => void
}

const DEFAULT_MINIMUM_FREE_BYTES = 256 * 1024 * 1024
const LOCK_FILE = 'millrace.lock'
const ATTEMPTS = 50
const RETRY_MS = 20
/** A holder shows this often that it is there; one of another machine that has not for so long is gone. */
const SIGN_EVERY_MS = 10_000
const GONE_AFTER_MS = 60_000

/**
 * Makes the data directory this process's own until `release`, or until the process is gone. Throws
 * `failed_precondition` naming the holder when another process has it, the directory when it cannot be written, and the
 * space when there is too little.
 */
export async function claimDataDirectory(
  path: string,
  options: ClaimOptions = {},
): Promise<{ release(): Promise<void> }> {
  await prepare(path, options.minimumFreeBytes ?? DEFAULT_MINIMUM_FREE_BYTES)
  const lock = join(path, LOCK_FILE)
  const own: Holder = { pid: process.pid, startedAt: processStartedAt(process.pid) ?? '', host: hostname() }
  const draft = `${lock}.${randomId(8)}`
  await writeFile(draft, JSON.stringify(own), { mode: 0o600 })
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // A link either appears with its content or not at all, and fails where the name is taken.
      if (await link(draft, lock).then(() => true, isTaken)) {
        return hold(lock, own, options.onLost)
      }
      await removeIfStale(path, lock, draft)
      await setTimeout(RETRY_MS)
    }
    throw new ServiceError(
      'failed_precondition',
      `the data directory ${path} is being claimed by other processes; start again`,
    )
  } finally {
    await rm(draft, { force: true })
  }
}

/** Shows that the holder is there, until it releases or finds that it is the holder no more. */
function hold(lock: string, own: Holder, onLost?: () => void): { release(): Promise<void> } {
  const content = JSON.stringify(own)
  let isHeld = true
  async function sign(): Promise<void> {
    const isOwn = await showSign(lock, content)
    if (isOwn || !isHeld) return
    isHeld = false
    clearInterval(timer)
    onLost?.()
  }
  // A disk that fails now may answer the next time.
  const timer = setInterval(() => void sign().catch(() => undefined), SIGN_EVERY_MS).unref()
  return {
    async release() {
      isHeld = false
      clearInterval(timer)
      if ((await readLock(lock)) === content) await rm(lock, { force: true })
    },
  }
}

/**
 * Writes what is there once more: the file system's own clock, which all machines share, says when. Into the file that was read, so
 * that the lock of another, put in its place meanwhile, is left alone. False when the lock is not this holder's.
 */
async function showSign(lock: string, content: string): Promise<boolean> {
  const file = await open(lock, 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (file === null) return false
  try {
    if ((await file.readFile('utf8')) !== content) return false
    await file.write(content, 0)
    return true
  } finally {
    await file.close()
  }
}

/**
 * One level after another: Node's own `recursive` never ends where a file system answers ENOENT for a directory whose
 * parent exists, as /proc does.
 */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || dirname(path) === path) throw error
    await makeDirectory(dirname(path))
    await mkdir(path, { mode: 0o700 })
  }
}

async function prepare(path: string, minimumFreeBytes: number): Promise<void> {
  try {
    await makeDirectory(resolve(path))
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK)
    const probe = join(path, `.probe-${randomId(8)}`)
    await writeFile(probe, 'x')
    await rm(probe)
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause)
    throw new ServiceError(
      'failed_precondition',
      `the data directory ${path} cannot be written (${reason})`,
      { cause },
    )
  }
  const { bavail, bsize } = await statfs(path)
  const freeBytes = bavail * bsize
  if (freeBytes < minimumFreeBytes) {
    throw new ServiceError(
      'failed_precondition',
      `the disk of the data directory ${path} has ${toMiB(freeBytes)} MiB free; at least ${toMiB(minimumFreeBytes)} MiB are needed`,
    )
  }
}

function toMiB(bytes: number): number {
  return Math.floor(bytes / 1024 / 1024)
}

function isTaken(error: NodeJS.ErrnoException): boolean {
  if (error.code === 'EEXIST') return false
  throw error
}

async function removeIfStale(path: string, lock: string, draft: string): Promise<void> {
  const found = await readLock(lock)
  if (found === null) return
  const holder = parseHolder(found)
  if (holder !== null && isAlive(holder)) {
    const advice = isElsewhere(holder)
      ? 'if it is gone, start again in a minute'
      : `if this is a copy, made while that process ran, remove its ${LOCK_FILE}`
    if (!isElsewhere(holder) || !(await isOld(lock, draft))) {
      throw new ServiceError(
        'failed_precondition',
        `the data directory ${path} is in use by process ${holder.pid} on ${holder.host}; stop that process or choose another directory (${advice})`,
      )
    }
  }
  // Two starts may find the same stale lock, and the slower one must not remove the lock that the faster one has
  // created meanwhile: locks are removed only by whoever holds the guard, and only when still the one that was judged.
  const guard = `${lock}.guard`
  if (!(await link(draft, guard).then(() => true, isTaken))) {
    await removeAbandoned(guard)
    return
  }
  try {
    if ((await readLock(lock)) === found) await rm(lock, { force: true })
  } finally {
    await rm(guard, { force: true })
  }
}

/** Has the holder shown no sign for long? By the clock of the file system, which has just written the draft. */
async function isOld(lock: string, draft: string): Promise<boolean> {
  const [shown, now] = await Promise.all([stat(lock).catch(() => null), stat(draft)])
  return shown !== null && now.mtimeMs - shown.mtimeMs > GONE_AFTER_MS
}

/** A guard lives for two file operations; one whose process has ended in between is moved out of the way. */
async function removeAbandoned(guard: string): Promise<void> {
  const found = await readLock(guard)
  const holder = found === null ? null : parseHolder(found)
  if (holder === null || isAlive(holder)) return
  const aside = `${guard}.${randomId(8)}`
  await rename(guard, aside).catch(() => undefined)
  await rm(aside, { force: true })
}

async function readLock(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null)
}

function parseHolder(text: string): Holder | null {
  try {
    const holder = JSON.parse(text) as Partial<Holder>
    if (typeof holder.pid !== 'number') return null
    return { pid: holder.pid, startedAt: holder.startedAt ?? '', host: holder.host ?? 'this machine' }
  } catch {
    return null
  }
}

function isElsewhere({ host }: Holder): boolean {
  return host !== hostname() && host !== 'this machine'
}

function isAlive(holder: Holder): boolean {
  // A process of another machine, or container, cannot be looked at; its lock is believed.
  if (isElsewhere(holder)) return true
  const startedAt = processStartedAt(holder.pid)
  return startedAt !== null && (holder.startedAt === '' || startedAt === holder.startedAt)
}

/** When a process started, as the operating system counts it; null when there is no such process. */
export function processStartedAt(pid: number): string | null {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return null
  }
  try {
    if (process.platform !== 'linux') {
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    }
    // proc(5): the 22nd field, counted behind the command's closing parenthesis as the command may hold anything.
    // A zombie has ended; it only waits to be read.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? '')
  } catch {
    return null
  }
}
