import { getOrMake } from '../platform/get-or-make.ts'
import { EMPTY_BLOCK, type BucketBlock } from './bucket-block.ts'
import { blockOf, blockStart, type BucketLevel } from './bucket-level.ts'

/**
 * The cell of each key of a block: -1 before the first edge, the number of cells from the last one on. `firstCell` is that of bucket `from`
 * where each bucket of `[from, end)` is a cell of its own that no other block has a part of, those before lie before all cells, and those
 * behind after them, but for their first microseconds; -1 where that is not so.
 */
interface Placement {
  readonly cells: Int32Array
  readonly from: number
  readonly end: number
  readonly firstCell: number
}

/** A block, and which cells its buckets lie in. */
export interface PlacedBlock extends Placement {
  readonly block: BucketBlock
}

/** Where the keys of blocks fall, by the edges of a plan and the level: queries of one dashboard share both. */
const placements = new WeakMap<Float64Array, Map<BucketLevel, readonly Placement[]>>()

/** The blocks of a stretch, laid over the cells of a plan. */
export function placeBlocks(
  blocks: readonly BucketBlock[],
  level: BucketLevel,
  edges: Float64Array,
): readonly PlacedBlock[] {
  const ofEdges = getOrMake(placements, edges, () => new Map<BucketLevel, readonly Placement[]>())
  const known = ofEdges.get(level)
  const placed = known?.length === blocks.length ? known : place(blocks.length, level, edges)
  ofEdges.set(level, placed)
  return blocks.map((block, index) => ({ block, ...(placed[index] ?? NOWHERE) }))
}

function place(blocks: number, level: BucketLevel, edges: Float64Array): readonly Placement[] {
  const first = blockOf(edges[0] ?? 0, level)
  let next = 0
  let lastCell = -1
  return Array.from({ length: blocks }, (_, index) => {
    const start = blockStart(first + index, level)
    const cells = new Int32Array(2 * level.bucketsPerBlock)
    for (let key = 0; key < cells.length; key += 1) {
      const time = start + (key >> 1) * level.bucketMicros + (key & 1)
      while (next < edges.length && (edges[next] ?? Infinity) <= time) next += 1
      cells[key] = next - 1
    }
    const placement = { cells, ...bucketsAsCells(cells, edges.length - 1, lastCell) }
    lastCell = cells.at(-1) ?? lastCell
    return placement
  })
}

/** `taken` is the last cell that the block before has a part of. */
function bucketsAsCells(
  cellOfKey: Int32Array,
  cells: number,
  taken: number,
): Pick<Placement, 'from' | 'end' | 'firstCell'> {
  const cellOf = (bucket: number) => cellOfKey[2 * bucket + 1] ?? 0
  let end = cellOfKey.length >> 1
  while (end > 0 && cellOf(end - 1) >= cells) end -= 1
  let from = 0
  while (from < end && cellOf(from) < 0) from += 1
  const firstCell = from < end ? cellOf(from) : 0
  const isOwn = from === end || firstCell > taken
  for (let bucket = from; bucket < end; bucket += 1) {
    if (!isOwn || cellOf(bucket) !== firstCell + bucket - from) return { from: 0, end: 0, firstCell: -1 }
  }
  return { from, end, firstCell }
}

const NOWHERE: Placement = { cells: new Int32Array(), from: 0, end: 0, firstCell: -1 }
/** Stands for a block where there is none. */
export const NO_BLOCK: PlacedBlock = { block: EMPTY_BLOCK, ...NOWHERE }
