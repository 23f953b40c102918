/** Sleeps and notes by how much too late it was woken, until it is told to end; see `timer-probe.ts`. */
import { parentPort, workerData } from 'node:worker_threads'

const { isOver, everyMs } = workerData as {
  readonly isOver: Int32Array<SharedArrayBuffer>
  readonly everyMs: number
}
const late: number[] = []
parentPort?.postMessage('sleeping', [])
for (let isWatching = true; isWatching;) {
  const startedAt = performance.now()
  isWatching = Atomics.wait(isOver, 0, 0, everyMs) === 'timed-out'
  const sleptMs = performance.now() - startedAt
  if (sleptMs >= everyMs) late.push(sleptMs - everyMs)
}
parentPort?.postMessage(late, [])
