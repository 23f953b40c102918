import { readdirSync, readFileSync } from 'node:fs'
import { setPriority } from 'node:os'

const THREADS = '/proc/self/task'
/** The engine's threads that merge; it makes them all with the first table. */
const MERGING = 'MergeMutate'
/** Nobody waits for these as one waits for an insert or an answer. */
const BACKGROUND: ReadonlySet<string> = new Set([MERGING, 'BgSchPool'])
/** A tenth of the share that a thread of ordinary priority gets of a busy processor; all of an idle one. */
const NICENESS = 10
const LOOK_EVERY_MS = 1000

/**
 * Lets everything else go before the engine's background work, where threads have priorities of their own (Linux): while samples arrive, merges
 * take more computing than inserts, and made each step of a small batch wait.
 */
export function yieldBackgroundWork(): void {
  if (process.platform !== 'linux') return
  const look = (): void => {
    const found = threadsByName()
    for (const [name, threads] of found) if (BACKGROUND.has(name)) threads.forEach(defer)
    if (found.has(MERGING)) clearInterval(timer)
  }
  const timer = setInterval(look, LOOK_EVERY_MS)
  timer.unref()
}

function threadsByName(): ReadonlyMap<string, readonly string[]> {
  return Map.groupBy(readdirSync(THREADS), (thread) => {
    try {
      return readFileSync(`${THREADS}/${thread}/comm`, 'utf8').trim()
    } catch {
      // It has ended meanwhile.
      return ''
    }
  })
}

function defer(thread: string): void {
  try {
    setPriority(Number(thread), NICENESS)
  } catch {
    // It has ended meanwhile, or may not be changed: it keeps the priority that it has.
  }
}
