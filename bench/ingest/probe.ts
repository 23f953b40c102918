import { parentPort, Worker, workerData } from 'node:worker_threads'
import { summarise, timeOnce, type Latency } from '../latency.ts'
import { createPost } from './sender.ts'

/** A client of its own beside the load: batches of 100 records, one after another. */
export interface ProbeTarget {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly endMicros: number
}

export const PROBE_RECORDS = 100
const PROBE_EVERY_MS = 50

/** Starts sending on a thread of its own, so that making the load is not measured as waiting for the service. */
export function startProbe(target: ProbeTarget): { stop(): Promise<Latency> } {
  const thread = new Worker(new URL(import.meta.url), { workerData: target })
  return {
    stop: () =>
      new Promise((resolve, reject) => {
        thread.once('error', reject)
        thread.once('message', (durations: readonly number[]) => {
          resolve(summarise(durations))
        })
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
        thread.postMessage('stop')
      }),
  }
}

/** The records of a probe, a line each. */
export function probeLines(endMicros: number, count: number): string {
  return Array.from(
    { length: PROBE_RECORDS },
    (_, series) =>
      `{"type":"gauge","name":"bench_probe","value":${series},"labels":{"series":"${series}"},"chain":"probe","blockNumber":${count},"timestampMicros":${endMicros + count}}\n`,
  ).join('')
}

/** Runs in the thread. */
async function probe({ url, headers, endMicros }: ProbeTarget, isOver: () => boolean): Promise<number[]> {
  const post = createPost(url, headers)
  const durations: number[] = []
  for (let count = 1; !isOver(); count++) {
    const lines = probeLines(endMicros, count)
    durations.push(await timeOnce(() => post('/batch', lines)))
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS))
  }
  return durations
}

if (parentPort) {
  let isOver = false
  parentPort.once('message', () => {
    isOver = true
  })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort.postMessage(await probe(workerData as ProbeTarget, () => isOver))
}
