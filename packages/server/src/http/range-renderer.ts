import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ServiceError } from '../platform/errors.ts'
import { handOverAnswerMemory, takeOverAnswerMemory } from './answer-memory.ts'
import { copyRows, memoryOfRows, renderRangeAnswer, type RangeRendering } from './render-range-answer.ts'

/** Writes answers out: short ones at once, long ones in threads of their own, so that other requests need not wait for them. */
export interface RangeRenderer {
  /** Throws `internal` when its thread ends before it is done. */
  render(rendering: RangeRendering): Promise<Uint8Array>
  /** Ends the threads. What they write fails. */
  close(): Promise<void>
}

export interface RangeRendererLimits {
  /** 0: all is written where it is asked for. */
  readonly threadsMax: number
  /** Answers of fewer points take less time to write than to hand over. */
  readonly pointsMin: number
}

/** What a thread is given: an answer to write, and memory that it may be written in. */
export interface RenderOrder {
  readonly rendering: RangeRendering
  readonly memory: ArrayBuffer | undefined
}

/** What a thread answers: the bytes, or why there are none. Memory goes to and fro: new memory is what the garbage collector runs for. */
export type RenderReport =
  | { readonly bytes: Uint8Array<ArrayBuffer>; readonly memory: readonly ArrayBuffer[] }
  | { readonly error: string }

interface Job {
  resolve(bytes: Uint8Array): void
  reject(error: ServiceError): void
}

interface Thread {
  readonly worker: Worker
  /** The answers it writes, in order. */
  readonly jobs: Job[]
  hasAnswered: boolean
}

/** A thread that has so many answers to write gets no other; what no thread takes is written where it is asked for. */
const JOBS_MAX = 4

/** Threads beside the one that answers requests, and about a millisecond of writing. */
const DEFAULT_LIMITS: RangeRendererLimits = {
  threadsMax: Math.max(1, Math.min(4, availableParallelism() - 1)),
  pointsMin: 10_000,
}

const THREAD_FILE = new URL(`./render-thread${extname(import.meta.filename)}`, import.meta.url)

/** A renderer whose threads begin with the first long answer. Where one cannot even begin, all is written where it is asked for from then on. */
export function createRangeRenderer(
  { threadsMax, pointsMin } = DEFAULT_LIMITS,
  threadFile = THREAD_FILE,
): RangeRenderer {
  const threads = new Set<Thread>()
  let canThreadsBegin = threadsMax > 0

  function start(): Thread {
    const thread: Thread = { worker: new Worker(threadFile), jobs: [], hasAnswered: false }
    threads.add(thread)
    thread.worker.unref()
    thread.worker.on('message', (report: RenderReport) => {
      thread.hasAnswered = true
      const job = thread.jobs.shift()
      if (thread.jobs.length === 0) thread.worker.unref()
      if ('error' in report)
        return job?.reject(
          new ServiceError('internal', 'the answer cannot be written', { cause: report.error }),
        )
      const { bytes, memory } = report
      for (const buffer of memory) takeOverAnswerMemory(buffer, false)
      takeOverAnswerMemory(bytes.buffer, true)
      job?.resolve(Buffer.from(bytes.buffer, 0, bytes.byteLength))
    })
    thread.worker.on('error', (cause) => {
      canThreadsBegin &&= thread.hasAnswered
      end(thread, cause)
    })
    thread.worker.on('exit', () => end(thread))
    return thread
  }

  function end(thread: Thread, cause?: unknown): void {
    threads.delete(thread)
    const error = new ServiceError('internal', 'the thread that wrote the answer ended', { cause })
    for (const job of thread.jobs.splice(0)) job.reject(error)
  }

  /** The one with the fewest answers to write, a new one where all have some; undefined where all have enough. */
  function choose(): Thread | undefined {
    const [idlest] = [...threads].toSorted((a, b) => a.jobs.length - b.jobs.length)
    if ((!idlest || idlest.jobs.length > 0) && threads.size < threadsMax) return start()
    return idlest && idlest.jobs.length < JOBS_MAX ? idlest : undefined
  }

  function hasRoom(): boolean {
    return threads.size < threadsMax || [...threads].some(({ jobs }) => jobs.length < JOBS_MAX)
  }

  return {
    render: async (rendering) => {
      const isForThread = canThreadsBegin && pointsOf(rendering) >= pointsMin && hasRoom()
      if (!isForThread) return renderRangeAnswer(rendering)
      const copied = await copyRows(rendering)
      // Others may have filled the threads meanwhile.
      const thread = choose()
      if (!thread) return renderRangeAnswer(rendering)
      return new Promise((resolve, reject) => {
        thread.jobs.push({ resolve, reject })
        thread.worker.ref()
        const memory = handOverAnswerMemory()
        const order: RenderOrder = { rendering: copied, memory }
        // Their memory goes over as it is.
        thread.worker.postMessage(order, [...memoryOfRows(copied), ...(memory ? [memory] : [])])
      })
    },
    close: async () => {
      await Promise.all([...threads].map(({ worker }) => worker.terminate()))
    },
  }
}

function pointsOf({ timestampsSeconds, results }: RangeRendering): number {
  return results.reduce((sum, { rows }) => sum + rows.length, 0) * timestampsSeconds.length
}
