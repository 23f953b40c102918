import { statSync } from 'node:fs'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** Copies the log of a SQLite database into its file, beside whoever writes. */
export interface SqliteCheckpointer {
  /** Resolves when its connection is closed. */
  close(): Promise<void>
}

const LOOK_EVERY_MS = 250
/** A log that never was longer needs no thread: the few pages are copied by whoever commits. */
const THREAD_FROM_BYTES = 2 * 1024 * 1024

/**
 * Copying the log means tens of milliseconds of writing and waiting for the disk, in which a thread that answers requests
 * answers none. So a thread of its own does it, as long as something is written; what it leaves, a commit copies.
 */
export function createSqliteCheckpointer(path: string): SqliteCheckpointer {
  const log = `${path}-wal`
  let worker: Worker | null = null
  let lastWrittenAt = 0

  function look(): void {
    const { size, mtimeMs } = statSync(log, { throwIfNoEntry: false }) ?? { size: 0, mtimeMs: 0 }
    if (mtimeMs === lastWrittenAt) return
    if (worker === null && size < THREAD_FROM_BYTES) return
    lastWrittenAt = mtimeMs
    worker ??= startThread()
    send(worker, 'checkpoint')
  }

  function startThread(): Worker {
    const thread = new Worker(
      new URL(`./sqlite-checkpoint-thread${extname(import.meta.filename)}`, import.meta.url),
      { workerData: path },
    )
    thread.unref()
    // Without it commits copy the log, as SQLite does by itself; the next look starts another.
    thread.on('error', () => undefined)
    thread.on('exit', () => (worker = null))
    return thread
  }

  const timer = setInterval(look, LOOK_EVERY_MS)
  timer.unref()
  return {
    async close() {
      clearInterval(timer)
      const thread = worker
      if (thread === null) return
      const ended = new Promise((resolve) => thread.once('exit', resolve))
      thread.ref()
      send(thread, 'close')
      await ended
    },
  }
}

function send(thread: Worker, order: 'checkpoint' | 'close'): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  thread.postMessage(order)
}
