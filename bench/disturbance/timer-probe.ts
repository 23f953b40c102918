import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { summarise, type Latency } from '../latency.ts'

const EVERY_MS = 10

/**
 * Sleeps ten milliseconds at a time in a thread that does nothing else: by as much as it is woken too late, everything that waits for a timer or a
 * packet may be. Returns a function that ends it and tells by how much.
 */
export async function startTimerProbe(): Promise<() => Promise<Latency>> {
  const isOver = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const thread = new Worker(new URL('timer-thread.ts', import.meta.url), {
    workerData: { isOver, everyMs: EVERY_MS },
  })
  await once(thread, 'message')
  const told = once(thread, 'message') as Promise<[readonly number[]]>
  return async () => {
    Atomics.store(isOver, 0, 1)
    Atomics.notify(isOver, 0)
    const [late] = await told
    return summarise(late)
  }
}
