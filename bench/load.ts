import { PROJECT } from './api.ts'
import type { IngestRequest } from './data-set.ts'
import { summarise, timeOnce } from './latency.ts'
import type { Bench, Figure } from './measurement.ts'

/** Sends the requests over `connections` at once and reports the rate of records and the latency of a request. */
export async function load(
  bench: Bench,
  name: string,
  unit: string,
  total: number,
  requests: Iterator<IngestRequest>,
): Promise<Figure> {
  const durations: number[] = []
  let loaded = 0
  const startedAt = performance.now()
  const connection = async (): Promise<void> => {
    for (let next = requests.next(); !next.done; next = requests.next()) {
      const { batchId, body, records } = next.value
      durations.push(
        await timeOnce(() => bench.api.postLines(`/ingest/${PROJECT}/batch?batchId=${batchId}`, body)),
      )
      loaded += records
      bench.progress(`${name}: ${loaded} of ${total} ${unit}`)
    }
  }
  await Promise.all(Array.from({ length: bench.options.connections }, connection))
  const seconds = (performance.now() - startedAt) / 1000
  return { name, perSecond: loaded / seconds, unit, latency: summarise(durations) }
}
