import { getOrMake } from '../platform/get-or-make.ts'
import { EMPTY_BLOCK, type BucketBlock } from './bucket-block.ts'
import { blockOf, blockStart, type BucketLevel } from './bucket-level.ts'
import { lostIn } from './range-aggregate.ts'
import type { CellStatistic, MetricType } from './series-source.ts'

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

interface PlacedBlock extends Placement {
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

/** The cells of one series, filled anew for each. */
export interface CellFiller {
  /** Of cells whose samples are not counted, any number above 0 stands for some. */
  readonly count: Float64Array
  /** Does each cell hold samples, as far as that is known without looking? */
  readonly isFull: boolean
  readonly statistics: Readonly<Partial<Record<CellStatistic, Float64Array>>>
  /** What lay before the first edge: a gauge's last value, the sum of a counter's deltas; NaN where nothing did. */
  readonly before: number
  /** Samples in all cells filled so far, and before them, where they are counted. */
  readonly samples: number
  fill(place: number): void
}

/** What to fill cells with. */
export interface CellOrder {
  readonly type: MetricType
  /** Those of the blocks. */
  readonly columns: readonly CellStatistic[]
  readonly wanted: readonly CellStatistic[]
  /** How many cells there are. */
  readonly cells: number
  /** Is it asked how many samples there are, rather than whether there are any? */
  readonly isCounted: boolean
}

/** A filler of cells from placed blocks. */
export function createCellFiller(
  placed: readonly PlacedBlock[],
  { type, columns, wanted, cells, isCounted }: CellOrder,
): CellFiller {
  const count = new Float64Array(cells)
  const targets = wanted.map((statistic) => {
    const column = type === 'counter' && statistic === 'last' ? 'change' : statistic
    const isSum = type === 'counter' || statistic === 'sum'
    return { statistic, column: columns.indexOf(column), isSum, values: new Float64Array(cells) }
  })
  const beforeColumn = columns.indexOf(type === 'counter' ? 'change' : 'last')
  const statistics = Object.fromEntries(targets.map(({ statistic, values }) => [statistic, values]))
  /** Of each block the rows of the series at hand that lie in cells, `[from, end)`. */
  const from = new Int32Array(placed.length)
  const end = new Int32Array(placed.length)
  /** Of each block the cell of its first row where each row is the next cell's; -1 where not. */
  const one = new Int32Array(placed.length)
  let before = Number.NaN
  let samples = 0
  let isFull = false
  /** Does the count of each cell stand at 1, because nobody asks for more than whether there are samples? */
  let isOnes = false

  /** Finds the rows of a series, and adds up what lies before the cells. */
  function find(place: number): void {
    for (let index = 0; index < placed.length; index += 1) {
      const { block, cells: cellOf, firstCell, from: fromBucket, end: endBucket } = placed[index] ?? NO_BLOCK
      const { starts, keys, isRegular } = block
      from[index] = 0
      end[index] = 0
      one[index] = -1
      if (place + 1 >= starts.length) continue
      const start = starts[place] ?? 0
      let row = start
      let last = starts[place + 1] ?? 0
      if (firstCell >= 0 && isRegular[place]) {
        row = start + fromBucket
        last = start + endBucket
        one[index] = firstCell
      } else {
        while (row < last && (cellOf[keys[row] ?? 0] ?? 0) < 0) row += 1
        while (row < last && (cellOf[keys[last - 1] ?? 0] ?? 0) >= cells) last -= 1
      }
      from[index] = row
      end[index] = last
      if (row > start) passBy(block, start, row)
    }
  }

  /** Takes rows that lie before all cells. */
  function passBy({ counts, columns }: BucketBlock, first: number, last: number): void {
    const column = columns[beforeColumn]
    for (let row = first; row < last; row += 1) {
      const value = column?.[row] ?? Number.NaN
      before = type === 'counter' && !Number.isNaN(before) ? before + value : value
      if (isCounted) samples += counts[row] ?? 0
    }
  }

  /** Does each cell have a row? Found without looking at counts. */
  function hasAllCells(): boolean {
    let rows = 0
    for (let index = 0; index < placed.length; index += 1) rows += (end[index] ?? 0) - (from[index] ?? 0)
    if (rows < cells) return false
    let [filled, cell] = [0, -1]
    for (let index = 0; index < placed.length; index += 1) {
      const { block, cells: cellOf } = placed[index] ?? NO_BLOCK
      const [first, last] = [from[index] ?? 0, end[index] ?? 0]
      const taken = one[index] ?? -1
      if (taken >= 0) {
        filled += last - first
        if (last > first) cell = taken + last - first - 1
        continue
      }
      for (let row = first; row < last; row += 1) {
        const next = cellOf[block.keys[row] ?? 0] ?? 0
        if (next !== cell) filled += 1
        cell = next
      }
    }
    return filled === cells
  }

  function countSamples(): void {
    count.fill(0)
    for (let index = 0; index < placed.length; index += 1) {
      const { block, cells: cellOf } = placed[index] ?? NO_BLOCK
      const { keys, counts } = block
      const [first, last] = [from[index] ?? 0, end[index] ?? 0]
      const taken = one[index] ?? -1
      if (taken >= 0) {
        for (let row = first, at = taken; row < last; row += 1, at += 1) count[at] = counts[row] ?? 0
        continue
      }
      for (let row = first; row < last; row += 1) {
        const cell = cellOf[keys[row] ?? 0] ?? 0
        count[cell] = (count[cell] ?? 0) + (counts[row] ?? 0)
      }
    }
    if (isCounted) for (const inCell of count) samples += inCell
  }

  return {
    count,
    get isFull() {
      return isFull
    },
    statistics,
    get before() {
      return before
    },
    get samples() {
      return samples
    },
    fill(place) {
      before = Number.NaN
      find(place)
      isFull = hasAllCells()
      if (isFull && !isCounted) {
        if (!isOnes) count.fill(1)
        isOnes = true
      } else {
        countSamples()
        isOnes = false
      }
      for (const { statistic, column, isSum, values } of targets) {
        const rows = { placed, column, from, end, one }
        if (isSum) addUp(values, rows)
        else if (statistic === 'first') keepFirst(values, rows)
        else if (statistic === 'last') keepLast(values, rows)
        else keepExtreme(values, rows, statistic === 'min' ? -1 : 1)
      }
    },
  }
}

const NOWHERE: Placement = { cells: new Int32Array(), from: 0, end: 0, firstCell: -1 }
const NO_BLOCK: PlacedBlock = { block: EMPTY_BLOCK, ...NOWHERE }

/** The rows of one series in one column of all blocks, ascending in time. */
interface Rows {
  readonly placed: readonly PlacedBlock[]
  readonly column: number
  readonly from: Int32Array
  readonly end: Int32Array
  readonly one: Int32Array
}

/** Takes over the rows of a block that are cells of their own, and tells the last of these; -1 where they are not. */
function takeOver(
  values: Float64Array,
  source: Float64Array,
  { from, end, one }: Rows,
  index: number,
): number {
  let cell = one[index] ?? -1
  if (cell < 0) return -1
  const last = end[index] ?? 0
  // A plain loop: for so few, making an array of the part takes longer.
  for (let row = from[index] ?? 0; row < last; row += 1, cell += 1) values[cell] = source[row] ?? 0
  return cell - 1
}

/** Sums of the rows of each cell, compensated (Neumaier). */
function addUp(sums: Float64Array, rows: Rows): void {
  const { placed, column, from, end } = rows
  let [cell, sum, lost] = [-1, 0, 0]
  for (let index = 0; index < placed.length; index += 1) {
    const { block, cells: cellOf } = placed[index] ?? NO_BLOCK
    const source = block.columns[column]
    const last = end[index] ?? 0
    const first = from[index] ?? 0
    if (!source || first === last) continue
    const taken = takeOver(sums, source, rows, index)
    if (taken >= 0) {
      if (cell >= 0) sums[cell] = sum + lost
      cell = taken
      sum = sums[cell] ?? 0
      lost = 0
      continue
    }
    const { keys } = block
    for (let row = first; row < last; row += 1) {
      const value = source[row] ?? 0
      const next = cellOf[keys[row] ?? 0] ?? 0
      if (next === cell) {
        const both = sum + value
        lost += lostIn(sum, value, both)
        sum = both
        continue
      }
      if (cell >= 0) sums[cell] = sum + lost
      cell = next
      sum = value
      lost = 0
    }
  }
  if (cell >= 0) sums[cell] = sum + lost
}

function keepFirst(values: Float64Array, rows: Rows): void {
  const { placed, column, from, end } = rows
  let cell = -1
  for (let index = 0; index < placed.length; index += 1) {
    const { block, cells: cellOf } = placed[index] ?? NO_BLOCK
    const source = block.columns[column]
    const last = end[index] ?? 0
    const first = from[index] ?? 0
    if (!source || first === last) continue
    const taken = takeOver(values, source, rows, index)
    if (taken >= 0) {
      cell = taken
      continue
    }
    const { keys } = block
    for (let row = first; row < last; row += 1) {
      const next = cellOf[keys[row] ?? 0] ?? 0
      if (next !== cell) values[next] = source[row] ?? Number.NaN
      cell = next
    }
  }
}

function keepLast(values: Float64Array, rows: Rows): void {
  const { placed, column, from, end } = rows
  for (let index = 0; index < placed.length; index += 1) {
    const { block, cells: cellOf } = placed[index] ?? NO_BLOCK
    const source = block.columns[column]
    const last = end[index] ?? 0
    const first = from[index] ?? 0
    if (!source || first === last || takeOver(values, source, rows, index) >= 0) continue
    const { keys } = block
    for (let row = first; row < last; row += 1) {
      values[cellOf[keys[row] ?? 0] ?? 0] = source[row] ?? Number.NaN
    }
  }
}

/** The largest of each cell where `sign` is 1, the smallest where it is -1. */
function keepExtreme(values: Float64Array, rows: Rows, sign: 1 | -1): void {
  const { placed, column, from, end } = rows
  let cell = -1
  for (let index = 0; index < placed.length; index += 1) {
    const { block, cells: cellOf } = placed[index] ?? NO_BLOCK
    const source = block.columns[column]
    const last = end[index] ?? 0
    const first = from[index] ?? 0
    if (!source || first === last) continue
    const taken = takeOver(values, source, rows, index)
    if (taken >= 0) {
      cell = taken
      continue
    }
    const { keys } = block
    for (let row = first; row < last; row += 1) {
      const value = source[row] ?? Number.NaN
      const next = cellOf[keys[row] ?? 0] ?? 0
      if (next !== cell || sign * value > sign * (values[next] ?? 0)) values[next] = value
      cell = next
    }
  }
}
