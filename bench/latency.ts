/** Durations of one kind of request, in milliseconds. */
export interface Latency {
  readonly count: number
  readonly medianMs: number
  readonly p99Ms: number
  readonly maxMs: number
}

/** Asks `count` times, one after another, and sums up how long the answers took. */
export async function timeRepeats(count: number, ask: (index: number) => Promise<unknown>): Promise<Latency> {
  const durations: number[] = []
  for (let index = 0; index < count; index++) durations.push(await timeOnce(() => ask(index)))
  return summarise(durations)
}

/** How long one piece of work took, in milliseconds. */
export async function timeOnce(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

/** Median, 99th percentile (nearest rank) and worst of durations in milliseconds. */
export function summarise(durations: readonly number[]): Latency {
  const sorted = durations.toSorted((a, b) => a - b)
  const rank = (share: number): number =>
    sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
  return { count: sorted.length, medianMs: rank(0.5), p99Ms: rank(0.99), maxMs: rank(1) }
}
