import type { BenchOptions } from './options.ts'
import { createRandom } from './random.ts'

/** Days that the data set covers, up to its end. */
export const DATA_DAYS = 30
const DATA_MICROS = DATA_DAYS * 86_400 * 1e6
const GROUPS = 10

/** One request of the ingest API: its NDJSON and how many records that is. */
export interface IngestRequest {
  readonly batchId: string
  readonly body: string
  readonly records: number
}

/**
 * Samples of `bench_gauge` and `bench_counter`, by turns, evenly over the series and the time before `endAt`
 * (epoch milliseconds), as a processor would send them: in the order of time.
 */
export function* sampleBatches(options: BenchOptions, endAt: number): Generator<IngestRequest> {
  const random = createRandom(options.seed)
  yield* batches('samples', options.samples, options.batch, (index) => {
    const series = Math.floor(index / 2) % options.series
    const isCounter = index % 2 === 1
    return {
      type: isCounter ? 'counter' : 'gauge',
      name: isCounter ? 'bench_counter' : 'bench_gauge',
      value: Math.round(random() * 1e6) / 100,
      labels: { series: String(series), group: String(series % GROUPS) },
      ...place(index, options.samples, endAt),
    }
  })
}

/** Rows of the event log `bench_event`, with 256-bit amounts. */
export function* eventBatches(options: BenchOptions, endAt: number): Generator<IngestRequest> {
  const random = createRandom(options.seed + 1)
  const account = (): string =>
    `0x${Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(40, '0')}`
  yield* batches('events', options.events, options.batch, (index) => ({
    type: 'event',
    name: 'bench_event',
    attributes: {
      from: account(),
      to: account(),
      amount: { $int: String(BigInt(Math.floor(random() * 2 ** 48)) ** 4n) },
      price: Math.round(random() * 1e6) / 1e4,
    },
    logIndex: index % 200,
    ...place(index, options.events, endAt),
  }))
}

/** Exports to the channel `bench`. */
export function* messageBatches(options: BenchOptions, endAt: number): Generator<IngestRequest> {
  const random = createRandom(options.seed + 2)
  yield* batches('messages', options.messages, Math.min(options.batch, 1000), (index) => ({
    type: 'export',
    name: 'bench_export',
    channel: 'bench',
    data: { index, value: Math.round(random() * 1e9), note: 'x'.repeat(100) },
    ...place(index, options.messages, endAt),
  }))
}

function* batches(
  name: string,
  total: number,
  size: number,
  record: (index: number) => object,
): Generator<IngestRequest> {
  for (let first = 0; first < total; first += size) {
    const count = Math.min(size, total - first)
    const lines = Array.from({ length: count }, (_, offset) => JSON.stringify(record(first + offset)))
    yield { batchId: `bench-${name}-${first}`, body: `${lines.join('\n')}\n`, records: count }
  }
}

function place(index: number, total: number, endAt: number): object {
  const timestampMicros = Math.floor(endAt * 1000 - DATA_MICROS + (DATA_MICROS * index) / total)
  return { chain: '1', blockNumber: 1 + Math.floor(timestampMicros / 12e6), timestampMicros }
}
