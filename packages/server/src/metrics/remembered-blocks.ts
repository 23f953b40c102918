import { dayOf } from '../cache/data-change.ts'
import { createBlockBuilder } from './block-builder.ts'
import { bytesOfBlock, EMPTY_BLOCK, type BucketBlock } from './bucket-block.ts'
import { blockOf, blockStart, type BucketLevel } from './bucket-level.ts'
import type { Stretch } from './bucket-source.ts'
import {
  alone,
  idsOf,
  isClosedBefore,
  isTrue,
  readSorted,
  type MetricMemory,
  type ReadingContext,
  type Remembered,
  type RememberedBlock,
} from './metric-memory.ts'
import type { CellStatistic } from './series-source.ts'

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
  const { asOf } = context
  const read = await readBlocks(memory, context, level, statistics, stretchesOf(missing, level))
  for (const number of missing) {
    const block = read.get(number) ?? EMPTY_BLOCK
    const endMicros = blockStart(number + 1, level)
    const isClosed = isClosedBefore(memory, asOf, endMicros)
    const bytes = bytesOfBlock(block)
    memory.blocks.delete(keyOf(number))
    memory.blocks.set(keyOf(number), { version: asOf.version, isClosed, endMicros, bytes, block })
    blocks[number - first] = block
  }
  context.onAdded()
  return blocks.map((block) => block ?? EMPTY_BLOCK)
}

async function readBlocks(
  memory: MetricMemory,
  context: ReadingContext,
  level: BucketLevel,
  statistics: readonly CellStatistic[],
  stretches: readonly Stretch[],
): Promise<ReadonlyMap<number, BucketBlock>> {
  const { source, address, type, pace, signal } = context
  const builder = createBlockBuilder(level, statistics.length)
  const { bucketMicros } = level
  const order = { address, type, ids: idsOf(memory, context), bucketMicros, statistics, stretches }
  await readSorted(memory, context, statistics.length, builder.add, (onRow) =>
    source.buckets(order, onRow, signal),
  )
  return builder.finish(memory.series.length, pace)
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
  return isBlockTrue(memory, known, level, block) ? known : null
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

/** Did anything on the days of a block change since? */
function isBlockTrue(
  memory: MetricMemory,
  remembered: Remembered,
  level: BucketLevel,
  block: number,
): boolean {
  const last = dayOf(blockStart(block + 1, level) - 1)
  for (let day = dayOf(blockStart(block, level)); day <= last; day += 1) {
    if (!isTrue(memory, remembered, memory.days.get(day))) return false
  }
  return true
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

function blocksWithin(
  { fromMicros, toMicros }: Stretch,
  level: BucketLevel,
): { readonly first: number; readonly end: number } {
  return { first: blockOf(fromMicros, level), end: blockOf(toMicros - 1, level) + 1 }
}
