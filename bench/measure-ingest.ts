import { eventBatches, sampleBatches } from './data-set.ts'
import { load } from './load.ts'
import type { Measurement } from './measurement.ts'

/** Loads the data set that the other measurements read; each request is durable before it is answered. */
export const measureIngest: Measurement = async (bench) => {
  const { options, endAt } = bench
  return [
    await load(bench, 'ingest samples', 'samples', options.samples, sampleBatches(options, endAt)),
    await load(bench, 'ingest events', 'events', options.events, eventBatches(options, endAt)),
  ]
}
