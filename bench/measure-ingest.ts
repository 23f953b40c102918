import { PROJECT } from './api.ts'
import { eventBatches, sampleBatches } from './data-set.ts'
import { summarise, timeOnce } from './latency.ts'
import { load } from './load.ts'
import type { Bench, Figure, Measurement } from './measurement.ts'

const PROBE_RECORDS = 100

/**
 * Loads the data set that the other measurements read; each request is durable before it is answered. Meanwhile small batches are
 * sent one after another, as a processor at the head of its chain does.
 */
export const measureIngest: Measurement = async (bench) => {
  const { options, endAt } = bench
  const probe = startProbe(bench)
  const samples = await load(
    bench,
    'ingest samples',
    'samples',
    options.samples,
    sampleBatches(options, endAt),
  )
  return [
    samples,
    await probe.stop(),
    await load(bench, 'ingest events', 'events', options.events, eventBatches(options, endAt)),
  ]
}

/** Sends batches of 100 records until it is stopped, and tells how long their answers took. */
function startProbe({ api, endAt }: Bench): { stop(): Promise<Figure> } {
  const durations: number[] = []
  const end = new AbortController()
  const running = (async () => {
    for (let count = 0; !end.signal.aborted; count++) {
      const lines = Array.from({ length: PROBE_RECORDS }, (_, index) =>
        JSON.stringify({
          type: 'gauge',
          name: 'bench_probe',
          value: index,
          labels: { series: String(index) },
          chain: '1',
          blockNumber: count,
          timestampMicros: endAt * 1000 + count,
        }),
      )
      const path = `/ingest/${PROJECT}/batch?batchId=bench-probe-${count}`
      durations.push(await timeOnce(() => api.postLines(path, lines.join('\n'))))
    }
  })()
  return {
    stop: async () => {
      end.abort()
      await running
      return { name: 'accept a batch of 100 meanwhile', latency: summarise(durations) }
    },
  }
}
