import { createRandom } from '../random.ts'

/** A sample of a gauge, or of a counter: what was added, and the total that peers are told. */
export interface ComparedSample {
  readonly metric: 'price' | 'supply' | 'swaps'
  readonly labels: Readonly<Record<string, string>>
  readonly timestampMs: number
  readonly value: number
  readonly total: number
}

/** A Monday. */
export const FIRST_MS = Date.UTC(2026, 4, 4)
export const HOURS = 30
const SERIES = 12
const MINUTE_MS = 60_000

/**
 * Ten pools on two chains, a sample a minute at a time of its own that is never on a full minute, so that no sample lies on the edge of
 * a window: which edge belongs to it is where systems differ. Prices go up and down, a supply only up.
 */
export function comparedSamples(seed: number): ComparedSample[] {
  const random = createRandom(seed)
  return Array.from({ length: SERIES }, (_, series) => {
    const labels = { pool: `p${series}`, chain: series % 3 === 0 ? '56' : '1' }
    let [price, supply, total] = [100 + series, 1000, 0]
    return Array.from({ length: HOURS * 60 }, (_, minute): ComparedSample[] => {
      const timestampMs = FIRST_MS + minute * MINUTE_MS + 1000 + Math.floor(random() * 58_000)
      price = Math.round((price + random() * 4 - 2) * 1000) / 1000
      supply += Math.floor(random() * 50)
      const added = Math.floor(random() * 9)
      total += added
      const place = { labels, timestampMs }
      return [
        { metric: 'price', value: price, total: price, ...place },
        { metric: 'supply', value: supply, total: supply, ...place },
        { metric: 'swaps', value: added, total, ...place },
      ]
    }).flat()
  }).flat()
}

/** Ingest records of this service. */
export function toRecord({ metric, labels, timestampMs, value }: ComparedSample): object {
  const { chain = '', ...others } = labels
  const type = metric === 'swaps' ? 'counter' : 'gauge'
  return {
    type,
    name: metric,
    value,
    labels: others,
    chain,
    blockNumber: 1,
    timestampMicros: timestampMs * 1000,
  }
}

/** Lines of the text format of Prometheus, a metric at a time; times in the unit that the reader of the lines takes. */
export function toLines(samples: readonly ComparedSample[], unit: 'seconds' | 'milliseconds'): string {
  const lines = Array.from(Map.groupBy(samples, ({ metric }) => metric).values(), (members) =>
    members.map(({ metric, labels, timestampMs, total }) => {
      const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
      const time = unit === 'seconds' ? (timestampMs / 1000).toFixed(3) : String(timestampMs)
      return `${metric}{${pairs.join(',')}} ${total} ${time}\n`
    }),
  )
  return lines.flat().join('')
}
