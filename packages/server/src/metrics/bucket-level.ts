import { getOrMake } from '../platform/get-or-make.ts'
import { EARLIEST_MS } from './instant.ts'
import { HOUR_MICROS } from './hour-edges.ts'
import type { CellNeeds, CellStatistic, MetricType } from './series-source.ts'

/** How long buckets of a level are, and how many of them are kept and forgotten together. */
export interface BucketLevel {
  readonly name: '12h' | '1h' | '5m' | '1m'
  readonly bucketMicros: number
  readonly bucketsPerBlock: number
}

/** The level of hours, whose blocks are UTC days. */
export const HOURS: BucketLevel = { name: '1h', bucketMicros: HOUR_MICROS, bucketsPerBlock: 24 }

/** Hours put together, for the long ranges of so many series that hours would not fit. */
export const HALF_DAYS: BucketLevel = { name: '12h', bucketMicros: 12 * HOUR_MICROS, bucketsPerBlock: 8 }

/** The levels, the coarsest first. Blocks of the finer ones are hours, so that new data at the open end touch few of them. */
const LEVELS: readonly BucketLevel[] = [
  HOURS,
  { name: '5m', bucketMicros: 300_000_000, bucketsPerBlock: 12 },
  { name: '1m', bucketMicros: 60_000_000, bucketsPerBlock: 60 },
]

/** What buckets know of each type; the rest needs the samples themselves. */
const KNOWN: Readonly<Record<MetricType, readonly CellStatistic[]>> = {
  gauge: ['sum', 'min', 'max', 'first', 'last'],
  counter: ['last', 'change', 'rise'],
}

/** Levels by edges: the queries of a dashboard share them. */
const levels = new WeakMap<Float64Array, BucketLevel | null>()

/** The coarsest level, from hours on, whose buckets fill the cells between the edges exactly; null where only samples do. */
export function levelFor(edges: Float64Array): BucketLevel | null {
  return getOrMake(levels, edges, () => LEVELS.find((level) => isOnLevel(edges, level)) ?? null)
}

/** Do the buckets of a level fill the cells between the edges exactly? */
export function isOnLevel(edges: Float64Array, { bucketMicros }: BucketLevel): boolean {
  return edges.every((edge) => isOnBucket(edge, bucketMicros))
}

/** A cell may count the samples on the first microsecond of a bucket to either side. */
function isOnBucket(micros: number, bucketMicros: number): boolean {
  const beyond = micros - Math.floor(micros / bucketMicros) * bucketMicros
  return beyond === 0 || beyond === 1
}

/** The columns that buckets need for what is asked; null where they do not know it. */
export function bucketStatistics(type: MetricType, needs: CellNeeds): readonly CellStatistic[] | null {
  const { statistics, needsHistory, needsSamples } = needs
  if (needsSamples || statistics.some((statistic) => !KNOWN[type].includes(statistic))) return null
  if (type === 'gauge') return sorted(needsHistory ? [...statistics, 'last'] : statistics)
  // A total grows by the sum of the deltas.
  const own = statistics.filter((statistic) => statistic !== 'last')
  return sorted(needsHistory || own.length < statistics.length ? [...own, 'change'] : own)
}

function sorted(statistics: readonly CellStatistic[]): readonly CellStatistic[] {
  return [...new Set(statistics)].toSorted()
}

/** The block that a time lies in, counted from `EARLIEST_MS`. */
export function blockOf(micros: number, { bucketMicros, bucketsPerBlock }: BucketLevel): number {
  return Math.floor((micros - EARLIEST_MS * 1000) / (bucketMicros * bucketsPerBlock))
}

/** When a block begins, in microseconds since 1970. */
export function blockStart(block: number, { bucketMicros, bucketsPerBlock }: BucketLevel): number {
  return block * bucketMicros * bucketsPerBlock + EARLIEST_MS * 1000
}
