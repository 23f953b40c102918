import type { DataVersion } from '../cache/data-version-store.ts'
import { dayOf } from '../cache/data-change.ts'
import type { NameChangesStore } from '../cache/name-changes.ts'
import { createBlockBuilder } from './block-builder.ts'
import { bytesOfBlock, EMPTY_BLOCK, type BucketBlock } from './bucket-block.ts'
import { blockOf, blockStart, type BucketLevel } from './bucket-level.ts'
import type { BucketSource, MetricAddress, StoredSeries, Stretch } from './bucket-source.ts'
import { indexIds, type IdIndex } from './id-index.ts'
import type { Pace } from './pace.ts'
import { createRowSorter } from './row-sorter.ts'
import type { CellStatistic, MetricType } from './series-source.ts'

/** Something that was read at a data version and may be forgotten. */
interface Remembered {
  /** The owner's data version before it was read. */
  readonly version: number
  /** Nothing but late data can change it: all chains had come further when it was read. */
  readonly isClosed: boolean
  readonly bytes: number
}

interface RememberedBlock extends Remembered {
  readonly block: BucketBlock
}

interface RememberedValues extends Remembered {
  /** By place; NaN where the series had not begun. */
  readonly values: Float64Array
}

/** What of a metric is in memory: its series in a fixed order, and what was read of them. */
export interface MetricMemory {
  /** New ones are put behind the others, so that places stay. */
  series: readonly StoredSeries[]
  find: IdIndex
  blocks: Map<string, RememberedBlock>
  values: Map<number, RememberedValues>
  /** Places of the series that match a selector, by its text; forgotten with every new series. */
  matches: Map<string, Int32Array>
  days: Map<number, DataVersion>
  whole: number
  seen: number
  frontierMicros: number
  /** The last reading that adds to this, so that two do not read the same. */
  lastReading: Promise<unknown>
}

/** A metric of which nothing is known. */
export function emptyMemory(): MetricMemory {
  return {
    series: [],
    find: () => -1,
    blocks: new Map(),
    values: new Map(),
    matches: new Map(),
    days: new Map(),
    whole: 0,
    seen: -1,
    frontierMicros: -Infinity,
    lastReading: Promise.resolve(),
  }
}

/** How far the data were before facts are read: what is read then holds at least that. */
export interface AsOf {
  readonly version: number
  readonly frontierMicros: number
}

/** Brings what is known of the changes up to date. To be called before facts are read. */
export async function noteChanges(
  memory: MetricMemory,
  store: NameChangesStore,
  address: MetricAddress,
): Promise<AsOf> {
  const latest = await store.latest(address)
  if (latest < memory.seen) forget(memory)
  if (latest === memory.seen) return { version: latest, frontierMicros: memory.frontierMicros }
  const { whole, days, frontierMicros } = await store.changesOf(address, address.metric, memory.seen)
  for (const [day, { latest, late }] of days) {
    const known = memory.days.get(day)
    memory.days.set(day, {
      latest: Math.max(latest, known?.latest ?? 0),
      late: Math.max(late, known?.late ?? 0),
    })
  }
  memory.whole = Math.max(memory.whole, whole)
  memory.seen = Math.max(memory.seen, latest)
  memory.frontierMicros = frontierMicros ?? -Infinity
  return { version: latest, frontierMicros: memory.frontierMicros }
}

/** Data versions never fall, except where the data of a removed version make room for others. */
function forget(memory: MetricMemory): void {
  Object.assign(memory, { ...emptyMemory(), lastReading: memory.lastReading })
}

function isTrue(memory: MetricMemory, { version, isClosed }: Remembered, changed?: DataVersion): boolean {
  return Math.max(memory.whole, (isClosed ? changed?.late : changed?.latest) ?? 0) <= version
}

/** Did anything before a time change since? */
function isTrueBefore(memory: MetricMemory, remembered: Remembered, beforeMicros: number): boolean {
  const end = dayOf(beforeMicros - 1)
  for (const [day, changed] of memory.days) {
    if (day <= end && !isTrue(memory, remembered, changed)) return false
  }
  return isTrue(memory, remembered)
}

function blockKey(level: BucketLevel, statistics: readonly CellStatistic[], block: number): string {
  return `${level.name} ${statistics.join()} ${block}`
}

/** A block, if it is in memory and still true. */
function heldBlock(
  memory: MetricMemory,
  level: BucketLevel,
  statistics: readonly CellStatistic[],
  block: number,
): RememberedBlock | null {
  const known = memory.blocks.get(blockKey(level, statistics, block))
  if (!known) return null
  return isTrue(memory, known, memory.days.get(dayOf(blockStart(block, level)))) ? known : null
}

/** How many buckets of each series a stretch needs that are not in memory or no longer true. */
export function missingBuckets(
  memory: MetricMemory,
  level: BucketLevel,
  statistics: readonly CellStatistic[],
  stretch: Stretch,
): number {
  const { first, end } = blocksWithin(stretch, level)
  let blocks = 0
  for (let block = first; block < end; block += 1) {
    if (!heldBlock(memory, level, statistics, block)) blocks += 1
  }
  return blocks * level.bucketsPerBlock
}

/** Are the values before a full hour in memory and still true? */
export function holdsValues(memory: MetricMemory, beforeMicros: number): boolean {
  const known = memory.values.get(beforeMicros)
  return known !== undefined && isTrueBefore(memory, known, beforeMicros)
}

/** What a reading needs besides the memory. */
export interface ReadingContext {
  readonly source: BucketSource
  readonly address: MetricAddress
  readonly type: MetricType
  readonly asOf: AsOf
  readonly pace: Pace
  readonly signal: AbortSignal
  /** Told what was added, for the budget. */
  onAdded(): void
}

/** The blocks of a level that a stretch lies in, from memory where they are still true. */
export async function rememberedBlocks(
  memory: MetricMemory,
  context: ReadingContext,
  level: BucketLevel,
  statistics: readonly CellStatistic[],
  stretch: Stretch,
  isAlone = false,
): Promise<readonly BucketBlock[]> {
  const { first, end } = blocksWithin(stretch, level)
  const keyOf = (block: number) => blockKey(level, statistics, block)
  const blocks: (BucketBlock | undefined)[] = []
  const missing: number[] = []
  for (let block = first; block < end; block += 1) {
    const known = heldBlock(memory, level, statistics, block)
    if (known) {
      // Put last, so that the first ones are those that nobody asked for.
      memory.blocks.delete(keyOf(block))
      memory.blocks.set(keyOf(block), known)
    } else missing.push(block)
    blocks.push(known?.block)
  }
  if (missing.length === 0) return blocks.map((block) => block ?? EMPTY_BLOCK)
  if (!isAlone) {
    return alone(memory, () => rememberedBlocks(memory, context, level, statistics, stretch, true))
  }
  const { version, frontierMicros } = context.asOf
  const read = await readBlocks(memory, context, level, statistics, stretchesOf(missing, level))
  for (const number of missing) {
    const block = read.get(number) ?? EMPTY_BLOCK
    const isClosed = blockStart(number + 1, level) <= frontierMicros
    memory.blocks.delete(keyOf(number))
    memory.blocks.set(keyOf(number), { version, isClosed, bytes: bytesOfBlock(block), block })
    blocks[number - first] = block
  }
  context.onAdded()
  return blocks.map((block) => block ?? EMPTY_BLOCK)
}

/** Runs one reading at a time, so that what one reads the next need not. */
function alone<Result>(memory: MetricMemory, read: () => Promise<Result>): Promise<Result> {
  const reading = memory.lastReading.then(read)
  memory.lastReading = reading.catch(() => undefined)
  return reading
}

async function readBlocks(
  memory: MetricMemory,
  { source, address, type, pace, signal }: ReadingContext,
  level: BucketLevel,
  statistics: readonly CellStatistic[],
  stretches: readonly Stretch[],
): Promise<ReadonlyMap<number, BucketBlock>> {
  const width = statistics.length
  const builder = createBlockBuilder(level, width)
  const sorter = createRowSorter(memory.find, width, builder.add)
  const order = { address, type, bucketMicros: level.bucketMicros, statistics, stretches }
  await source.buckets(order, sorter.onRow, signal)
  if (sorter.hasUnknown) {
    await learnSeries(memory, source, address, signal)
    sorter.addUnknown(memory.find)
  }
  return builder.finish(memory.series.length, pace)
}

/** Neighbouring blocks as one stretch each. */
function stretchesOf(blocks: readonly number[], level: BucketLevel): readonly Stretch[] {
  const stretches: { fromMicros: number; toMicros: number }[] = []
  for (const block of blocks) {
    const [fromMicros, toMicros] = [blockStart(block, level), blockStart(block + 1, level)]
    const last = stretches.at(-1)
    if (last?.toMicros === fromMicros) last.toMicros = toMicros
    else stretches.push({ fromMicros, toMicros })
  }
  return stretches
}

/** The value of each series before a full hour, by place. */
export async function rememberedValues(
  memory: MetricMemory,
  context: ReadingContext,
  beforeMicros: number,
  isAlone = false,
): Promise<Float64Array> {
  const known = memory.values.get(beforeMicros)
  if (known && isTrueBefore(memory, known, beforeMicros)) {
    memory.values.delete(beforeMicros)
    memory.values.set(beforeMicros, known)
    return known.values
  }
  if (!isAlone) return alone(memory, () => rememberedValues(memory, context, beforeMicros, true))
  const { source, address, type, asOf, signal, onAdded } = context
  const isClosed = beforeMicros <= asOf.frontierMicros
  const read: [number, number][] = []
  const sorter = createRowSorter(memory.find, 1, (place, _key, _count, numbers, at) => {
    read.push([place, numbers[at] ?? Number.NaN])
  })
  await source.valuesBefore(address, type, beforeMicros, sorter.onRow, signal)
  if (sorter.hasUnknown) {
    await learnSeries(memory, source, address, signal)
    sorter.addUnknown(memory.find)
  }
  const values = new Float64Array(memory.series.length).fill(Number.NaN)
  for (const [place, value] of read) values[place] = value
  memory.values.delete(beforeMicros)
  memory.values.set(beforeMicros, { version: asOf.version, isClosed, bytes: values.byteLength + 1, values })
  onAdded()
  return values
}

/** Reads the series anew. Those known keep their places. */
export async function learnSeries(
  memory: MetricMemory,
  source: BucketSource,
  address: MetricAddress,
  signal: AbortSignal,
): Promise<void> {
  const found = await source.series(address, signal)
  const known = new Set(memory.series.map(({ id }) => id))
  memory.series = [...memory.series, ...found.filter(({ id }) => !known.has(id))]
  memory.find = indexIds(memory.series.map(({ id }) => id))
  memory.matches.clear()
}

function blocksWithin(
  { fromMicros, toMicros }: Stretch,
  level: BucketLevel,
): { readonly first: number; readonly end: number } {
  return { first: blockOf(fromMicros, level), end: blockOf(toMicros - 1, level) + 1 }
}
