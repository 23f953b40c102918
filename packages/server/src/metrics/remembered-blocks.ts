import { dayOf } from '../cache/data-change.ts'
import type { DataVersion } from '../cache/data-version-store.ts'
import { createBlockBuilder } from './block-builder.ts'
import { bytesOfBlock, EMPTY_BLOCK, type BucketBlock } from './bucket-block.ts'
import { blockOf, blockStart, type BucketLevel } from './bucket-level.ts'
import { partsOf, type Stretch } from './bucket-source.ts'
import {
  alone,
  idsOf,
  isClosedBefore,
  readSorted,
  settledAt,
  type MetricMemory,
  type ReadingContext,
  type Remembered,
  type RememberedBlock,
} from './metric-memory.ts'
import type { CellStatistic } from './series-source.ts'
import { spliceBlocks } from './splice-blocks.ts'

/** The blocks of a level that a stretch lies in, from memory as far as they are still true. */
export async function rememberedBlocks(
  memory: MetricMemory,
  context: ReadingContext,
  level: BucketLevel,
  statistics: readonly CellStatistic[],
  stretch: Stretch,
  isAlone = false,
): Promise<readonly BucketBlock[]> {
  const { first, end } = blocksWithin(stretch, level)
  const blocks: BucketBlock[] = []
  const missing: MissingPart[] = []
  for (let number = first; number < end; number += 1) {
    const key = blockKey(level, statistics, number)
    const known = memory.blocks.get(key)
    const fromMicros = known ? trueUntil(memory, context, known, level, number) : blockStart(number, level)
    // Of the last block it is enough to know what lies before the end of the stretch.
    if (fromMicros < Math.min(blockStart(number + 1, level), stretch.toMicros))
      missing.push({ number, fromMicros, known: known ?? null })
    else if (known) {
      // Put last, so that the first ones are those that nobody asked for.
      memory.blocks.delete(key)
      memory.blocks.set(key, known)
    }
    blocks.push(known?.block ?? EMPTY_BLOCK)
  }
  if (missing.length === 0) return blocks
  if (!isAlone) {
    return alone(memory, () => rememberedBlocks(memory, context, level, statistics, stretch, true))
  }
  const read = await readBlocks(memory, context, level, statistics, stretchesOf(missing, level))
  for (const part of missing) {
    const { number } = part
    const block = wholeBlock(memory, part, read.get(number) ?? EMPTY_BLOCK, level)
    const key = blockKey(level, statistics, number)
    memory.blocks.delete(key)
    memory.blocks.set(key, remember(memory, context, part, block, level))
    blocks[number - first] = block
  }
  context.onAdded()
  return blocks
}

/** A block of which something must be read, from a bucket on to its end. */
interface MissingPart {
  readonly number: number
  readonly fromMicros: number
  readonly known: RememberedBlock | null
}

/** Up to which bucket a remembered block is what a reading is to see. */
function trueUntil(
  memory: MetricMemory,
  { snapshot, dataVersion }: ReadingContext,
  known: RememberedBlock,
  level: BucketLevel,
  number: number,
): number {
  const isOpen = snapshot !== null && known.endMicros > snapshot.fromMicros
  const isWhole = isOpen
    ? known.isExact && lastChange(memory, level, number, 'latest') <= Math.min(known.version, dataVersion)
    : isBlockTrue(memory, known, level, number)
  if (isWhole) return known.endMicros
  const { settled } = known
  const isSettled = settled !== null && memory.whole <= settled.since && settled.since <= dataVersion
  return isSettled ? settled.untilMicros : blockStart(number, level)
}

/** What was read of a block behind what was known of it. */
function wholeBlock(
  { series }: MetricMemory,
  { number, fromMicros, known }: MissingPart,
  read: BucketBlock,
  level: BucketLevel,
): BucketBlock {
  const bucket = (fromMicros - blockStart(number, level)) / level.bucketMicros
  return known && bucket > 0 ? spliceBlocks(known.block, read, bucket, series.length, level) : read
}

function remember(
  memory: MetricMemory,
  { snapshot, dataVersion, asOf }: ReadingContext,
  { number, fromMicros, known }: MissingPart,
  block: BucketBlock,
  level: BucketLevel,
): RememberedBlock {
  const endMicros = blockStart(number + 1, level)
  const settled = fromMicros > blockStart(number, level) ? (known?.settled ?? null) : null
  const shared = { endMicros, bytes: bytesOfBlock(block), block }
  if (snapshot === null || endMicros <= snapshot.fromMicros) {
    const isClosed = isClosedBefore(memory, asOf, endMicros)
    return { ...shared, version: asOf.version, isClosed, isExact: false, settled }
  }
  const behind = Math.min(settledAt(memory, dataVersion), endMicros) - blockStart(number, level)
  const untilMicros = blockStart(number, level) + Math.floor(behind / level.bucketMicros) * level.bucketMicros
  const hasMore = untilMicros > (settled?.untilMicros ?? blockStart(number, level))
  return {
    ...shared,
    version: dataVersion,
    isClosed: false,
    isExact: true,
    settled: hasMore ? { untilMicros, since: dataVersion } : settled,
  }
}

async function readBlocks(
  memory: MetricMemory,
  context: ReadingContext,
  level: BucketLevel,
  statistics: readonly CellStatistic[],
  stretches: readonly Stretch[],
): Promise<ReadonlyMap<number, BucketBlock>> {
  const { source, address, type, pace, signal, snapshot } = context
  const builder = createBlockBuilder(level, statistics)
  const { bucketMicros } = level
  const ids = idsOf(memory, context)
  const order = { address, type, ids, bucketMicros, statistics, stretches, snapshot }
  await readSorted(memory, context, partsOf(statistics).length, builder.add, (onRow) =>
    source.buckets(order, onRow, signal),
  )
  return builder.finish(memory.series.length, pace)
}

function blockKey(level: BucketLevel, statistics: readonly CellStatistic[], block: number): string {
  return `${level.name} ${statistics.join()} ${block}`
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
    const known = memory.blocks.get(blockKey(level, statistics, block))
    if (!known || !isBlockTrue(memory, known, level, block)) blocks += 1
  }
  return blocks * level.bucketsPerBlock
}

/** Did nothing on the days of a block change since that matters to it? */
function isBlockTrue(
  memory: MetricMemory,
  { version, isClosed }: Remembered,
  level: BucketLevel,
  block: number,
): boolean {
  return lastChange(memory, level, block, isClosed ? 'late' : 'latest') <= version
}

/** The last change, or the last late one, of the days of a block. */
function lastChange(
  memory: MetricMemory,
  level: BucketLevel,
  block: number,
  kind: keyof DataVersion,
): number {
  let last = memory.whole
  const endDay = dayOf(blockStart(block + 1, level) - 1)
  for (let day = dayOf(blockStart(block, level)); day <= endDay; day += 1) {
    last = Math.max(last, memory.days.get(day)?.[kind] ?? 0)
  }
  return last
}

/** Neighbouring parts as one stretch each. */
function stretchesOf(parts: readonly MissingPart[], level: BucketLevel): readonly Stretch[] {
  const stretches: { fromMicros: number; toMicros: number }[] = []
  for (const { number, fromMicros } of parts) {
    const toMicros = blockStart(number + 1, level)
    const last = stretches.at(-1)
    if (last?.toMicros === fromMicros) last.toMicros = toMicros
    else stretches.push({ fromMicros, toMicros })
  }
  return stretches
}

function blocksWithin(
  { fromMicros, toMicros }: Stretch,
  level: BucketLevel,
): { readonly first: number; readonly end: number } {
  return { first: blockOf(fromMicros, level), end: blockOf(toMicros - 1, level) + 1 }
}
