import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Session } from 'chdb'
import type { EngineStatement, SessionOrder, SessionReport } from './engine-messages.ts'
import { quoteLiteral } from './engine-settings.ts'

// A kill that arrives before the engine has registered the statement finds nothing, so it is repeated.
const KILL_EVERY_MS = 100
const COUNT_EVERY_MS = 50

/**
 * When its few background threads are busy, a table looks again for room for the rest of a deletion: after up to 1.1 s by default, which
 * made a second of work take seven (measured with 26.7). The first session of a process configures the engine.
 */
const BACKGROUND = [
  '--background_processing_pool_thread_sleep_seconds_if_nothing_to_do=0.02',
  '--background_processing_pool_task_sleep_seconds_when_no_work_random_part=0',
]

/** Who waits for a statement. `onChunk` resolves when the next chunk is welcome. `readRows` is 0 of one that is not counted. */
export interface StatementListener {
  onChunk(bytes: Uint8Array, readRows: number): Promise<void>
  /** `last` is what comes behind the chunks, if anything does. */
  onDone(totals: {
    readonly last: Uint8Array | null
    readonly writtenRows: number
    readonly writtenBytes: number
    readonly readRows: number
  }): void
  onFailed(message: string): void
}

/** Runs statements side by side, each on a session of its own; the ones beyond its size wait in order of arrival. */
export interface EnginePool {
  /** Returns how to cancel the statement; its listener then still hears `onFailed`. */
  run(statement: EngineStatement, listener: StatementListener): { cancel(): void }
  /** Statements that run or wait. */
  readonly pending: number
  /** Ends every thread and session. Statements should have ended before. */
  close(): Promise<void>
}

interface Job {
  readonly statement: EngineStatement
  readonly listener: StatementListener
  thread: Worker | null
  isOver: boolean
  /** As the engine last told. */
  readRows: number
  chunkCount: number
}

function post(thread: Worker, order: SessionOrder, handedOver: readonly ArrayBuffer[] = []): void {
  thread.postMessage(order, handedOver)
}

/** Memory that holds the rows and nothing else can be handed over; other memory has to be copied. */
function ownMemory(rows: Uint8Array | null): readonly ArrayBuffer[] {
  const memory = rows?.buffer
  return memory instanceof ArrayBuffer && memory.byteLength === rows?.byteLength ? [memory] : []
}

/** Opens the directory and `size` sessions on it, besides one that only kills. */
export async function openEnginePool(
  directory: string,
  size: number,
  onCrash: (error: Error) => void,
): Promise<EnginePool> {
  const control = new Session(directory, { connectionArgs: BACKGROUND })
  await control.queryAsync('select 1')
  /** The thread that was used last comes last. */
  const idle: Worker[] = []
  /** The settings under which a thread ran its last statement. */
  const settings = new Map<Worker, string>()
  const waiting: Job[] = []
  const running = new Map<Worker, Job>()

  function next(): void {
    while (idle.length > 0 && waiting.length > 0) {
      const job = waiting.shift()
      const thread = job && takeThread(JSON.stringify(job.statement.settings))
      if (!thread) return
      job.thread = thread
      running.set(thread, job)
      post(thread, { kind: 'run', statement: job.statement }, ownMemory(job.statement.body))
      if (job.statement.isCounted) void countOnAndOn(job)
    }
  }

  /** One whose session has the settings already, else the one that was idle for longest: its session may have to be made anew. */
  function takeThread(wanted: string): Worker | undefined {
    const place = idle.findLastIndex((thread) => settings.get(thread) === wanted)
    const [thread] = idle.splice(Math.max(0, place), 1)
    if (thread) settings.set(thread, wanted)
    return thread
  }

  function settle(thread: Worker, job: Job): void {
    job.isOver = true
    running.delete(thread)
    idle.push(thread)
    next()
  }

  async function forward(thread: Worker, job: Job, bytes: Uint8Array): Promise<void> {
    const isFirst = job.chunkCount++ === 0
    await job.listener.onChunk(bytes, job.readRows)
    // Waking a thread costs about as much as a small statement, and most results have no second chunk.
    if (!job.isOver && !isFirst) post(thread, { kind: 'more' })
  }

  function receive(thread: Worker, message: SessionReport): void {
    const job = running.get(thread)
    if (!job) return
    switch (message.kind) {
      case 'chunk':
        void forward(thread, job, message.bytes)
        break
      case 'count':
        void count(job).then(() => post(thread, { kind: 'counted' }))
        break
      case 'read':
        job.readRows = Math.max(job.readRows, message.rows)
        break
      case 'done':
        job.listener.onDone({
          last: message.last,
          writtenRows: message.writtenRows,
          writtenBytes: message.writtenBytes,
          readRows: job.readRows,
        })
        settle(thread, job)
        break
      case 'failed':
        job.listener.onFailed(message.message)
        settle(thread, job)
        break
      case 'ready':
        break
    }
  }

  async function openThread(): Promise<void> {
    const thread = new Worker(new URL(`./engine-session${extname(import.meta.filename)}`, import.meta.url), {
      workerData: { directory },
    })
    thread.on('error', onCrash)
    await new Promise<void>((resolve) => {
      thread.once('message', () => {
        resolve()
      })
    })
    thread.on('message', (message: SessionReport) => {
      receive(thread, message)
    })
    idle.push(thread)
  }

  await Promise.all(Array.from({ length: size }, openThread))

  /** What a statement has read stands in the engine's list of running ones, and nowhere when it has ended. */
  async function count(job: Job): Promise<void> {
    const tag = quoteLiteral(`/* ${job.statement.tag} */`)
    const found = await control
      .queryAsync(`select read_rows from system.processes where endsWith(query, ${tag})`, { format: 'TSV' })
      .catch(() => null)
    job.readRows = Math.max(job.readRows, Number(found?.text() ?? 0))
  }

  async function countOnAndOn(job: Job): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, COUNT_EVERY_MS))
      if (job.isOver) return
      await count(job)
    }
  }

  async function kill(job: Job): Promise<void> {
    while (!job.isOver) {
      // ASYNC: with SYNC the call never returns. The own text does not end in the comment, so it does not match itself.
      const tag = quoteLiteral(`/* ${job.statement.tag} */`)
      await control
        .queryAsync(`kill query where endsWith(query, ${tag}) or startsWith(query, ${tag}) async`)
        .catch(() => null)
      await new Promise((resolve) => setTimeout(resolve, KILL_EVERY_MS))
    }
  }

  return {
    run(statement, listener) {
      const job: Job = { statement, listener, thread: null, isOver: false, readRows: 0, chunkCount: 0 }
      waiting.push(job)
      next()
      return {
        cancel() {
          if (job.isOver) return
          const place = waiting.indexOf(job)
          if (place >= 0) {
            waiting.splice(place, 1)
            job.isOver = true
            listener.onFailed('Code: 394. DB::Exception: Query was cancelled. (QUERY_WAS_CANCELLED)')
          } else if (job.thread) {
            post(job.thread, { kind: 'cancel' })
            void kill(job)
          }
        },
      }
    },
    get pending() {
      return waiting.length + running.size
    },
    async close() {
      const threads = [...idle, ...running.keys()]
      const exits = threads.map((thread) => new Promise((resolve) => thread.once('exit', resolve)))
      for (const thread of threads) post(thread, { kind: 'close' })
      await Promise.all(exits)
      control.close()
    },
  }
}
