import type { Sample } from './samples.ts'

/** A generator of its own (mulberry32), so that the samples are the same in each run. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** What samples to make. */
export interface SampleWish {
  readonly metric: string
  readonly type: Sample['type']
  readonly isWhole: boolean
  /** Which of `pool` and `chain` the series have; those that they tell apart become one for each chain, pool, or one in all. */
  readonly labels: readonly ('pool' | 'chain')[]
  readonly firstMs: number
  readonly lastMs: number
  readonly seed?: number
}

/** Series that are dense, sparse, late and silent, with samples on full hours, of one time, just beside, and of no number. */
export function makeSamples({
  metric,
  type,
  isWhole,
  labels,
  firstMs,
  lastMs,
  seed = 0,
}: SampleWish): Sample[] {
  const next = random(metric.length + (isWhole ? 7 : 0) + 100 * seed)
  const samples: Sample[] = []
  const made = new Set<string>()
  for (const [pool, hoursApart] of [
    ['a', 1.5],
    ['b', 9],
    ['c', 90],
    ['d', 400],
  ] as const) {
    const all = { pool, chain: pool < 'c' ? '1' : '56' }
    const own = Object.fromEntries(labels.map((name) => [name, all[name]]))
    if (made.has(JSON.stringify(own))) continue
    made.add(JSON.stringify(own))
    let micros = (firstMs + next() * 40 * 3_600_000 * hoursApart) * 1000
    for (let ordinal = 0; micros < lastMs * 1000; ordinal += 1) {
      const hour = Math.round(micros / 3.6e9) * 3.6e9
      const timestampMicros = [hour, hour + 1, hour - 1, Math.round(micros), Math.round(micros)][
        Math.floor(next() * 5)
      ] as number
      const value = next() < 0.03 ? Number.NaN : (next() - 0.3) * 1000
      const blockNumber = Math.floor(next() * 3)
      samples.push({
        metric,
        type,
        labels: own,
        timestampMicros,
        blockNumber,
        ordinal,
        value: isWhole ? Math.round(value) : value,
      })
      // A third of the samples share their time with the next one.
      micros = next() < 0.33 ? timestampMicros : micros + next() * 2 * hoursApart * 3.6e9
    }
  }
  return samples
}
