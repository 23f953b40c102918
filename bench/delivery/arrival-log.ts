import type { Arrival } from './sink.ts'

const COLUMNS = 4
const CHUNK_ARRIVALS = 16_384

/** Keeps arrivals where a garbage collector has nothing to follow: millions of small arrays would halt the process that keeps them, and what it measures. */
export interface ArrivalLog {
  add(...arrival: Arrival): void
  clear(): void
  list(): readonly Arrival[]
}

/** An empty one. */
export function createArrivalLog(): ArrivalLog {
  let chunks: Float64Array[] = []
  let count = 0
  return {
    add(...arrival) {
      const index = count % CHUNK_ARRIVALS
      if (index === 0) chunks.push(new Float64Array(CHUNK_ARRIVALS * COLUMNS))
      chunks.at(-1)?.set(arrival, index * COLUMNS)
      count += 1
    },
    clear() {
      chunks = []
      count = 0
    },
    list: () =>
      Array.from({ length: count }, (_, index): Arrival => {
        const chunk = chunks[Math.floor(index / CHUNK_ARRIVALS)]
        const from = (index % CHUNK_ARRIVALS) * COLUMNS
        const [n = 0, at = 0, sentAt = 0, arrivedAt = 0] = chunk?.subarray(from, from + COLUMNS) ?? []
        return [n, at, sentAt, arrivedAt]
      }),
  }
}
