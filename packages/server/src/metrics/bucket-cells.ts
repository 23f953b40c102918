import { getOrMake } from '../platform/get-or-make.ts'
import { EMPTY_BLOCK, type BucketBlock } from './bucket-block.ts'
import { blockOf, blockStart, type BucketLevel } from './bucket-level.ts'
import { lostIn } from './range-aggregate.ts'
import type { CellStatistic, MetricType } from './series-source.ts'

/** The cell of each key of a block: -1 before the first edge, the number of cells from the last one on. */
interface Placement {
  readonly cells: Int32Array
  /** The cell of the first bucket where each bucket is a cell of its own, except for its first microsecond; -1 where not. */
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
  return Array.from({ length: blocks }, (_, index) => {
    const start = blockStart(first + index, level)
    const cells = new Int32Array(2 * level.bucketsPerBlock)
    for (let key = 0; key < cells.length; key += 1) {
      const time = start + (key >> 1) * level.bucketMicros + (key & 1)
      while (next < edges.length && (edges[next] ?? Infinity) <= time) next += 1
      cells[key] = next - 1
    }
    return { cells, firstCell: firstCellOf(cells, edges.length - 1) }
  })
}

function firstCellOf(cellOfKey: Int32Array, cells: number): number {
  const first = cellOfKey[1] ?? -1
  if (first < 0 || (cellOfKey.at(-1) ?? cells) >= cells) return -1
  for (let key = 1; key < cellOfKey.length; key += 2) {
    if (cellOfKey[key] !== first + (key >> 1)) return -1
  }
  return first
}

/** The cells of one series, filled anew for each. */
export interface CellFiller {
  readonly count: Float64Array
  readonly statistics: Readonly<Partial<Record<CellStatistic, Float64Array>>>
  /** What lay before the first edge: a gauge's last value, the sum of a counter's deltas; NaN where nothing did. */
  readonly before: number
  /** Samples in all cells filled so far, and before them. */
  readonly samples: number
  fill(place: number): void
}

/** A filler for `cells` cells; `columns` are those of the blocks, `wanted` the statistics to fill. */
export function createCellFiller(
  placed: readonly PlacedBlock[],
  columns: readonly CellStatistic[],
  type: MetricType,
  wanted: readonly CellStatistic[],
  cells: number,
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

  /** Finds the rows of a series, and adds up what lies before the cells. */
  function find(place: number): void {
    for (let index = 0; index < placed.length; index += 1) {
      const { block, cells: cellOf, firstCell } = placed[index] ?? NO_BLOCK
      const { starts, keys, isRegular, counts, columns } = block
      from[index] = 0
      end[index] = 0
      one[index] = -1
      if (place + 1 >= starts.length) continue
      let row = starts[place] ?? 0
      const last = starts[place + 1] ?? 0
      if (firstCell >= 0 && isRegular[place]) {
        from[index] = row
        end[index] = last
        one[index] = firstCell
        for (let cell = firstCell; row < last; row += 1, cell += 1) {
          const inRow = counts[row] ?? 0
          count[cell] = (count[cell] ?? 0) + inRow
          samples += inRow
        }
        continue
      }
      for (; row < last && (cellOf[keys[row] ?? 0] ?? 0) < 0; row += 1) {
        const value = columns[beforeColumn]?.[row] ?? Number.NaN
        samples += counts[row] ?? 0
        before = type === 'counter' && !Number.isNaN(before) ? before + value : value
      }
      from[index] = row
      for (; row < last; row += 1) {
        const cell = cellOf[keys[row] ?? 0] ?? 0
        if (cell >= cells) break
        const inRow = counts[row] ?? 0
        count[cell] = (count[cell] ?? 0) + inRow
        samples += inRow
      }
      end[index] = row
    }
  }

  return {
    count,
    statistics,
    get before() {
      return before
    },
    get samples() {
      return samples
    },
    fill(place) {
      count.fill(0)
      before = Number.NaN
      find(place)
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

const NOWHERE: Placement = { cells: new Int32Array(), firstCell: -1 }
const NO_BLOCK: PlacedBlock = { block: EMPTY_BLOCK, ...NOWHERE }

/** The rows of one series in one column of all blocks, ascending in time. */
interface Rows {
  readonly placed: readonly PlacedBlock[]
  readonly column: number
  readonly from: Int32Array
  readonly end: Int32Array
  readonly one: Int32Array
}

/** Sums of the rows of each cell, compensated (Neumaier). */
function addUp(sums: Float64Array, { placed, column, from, end, one }: Rows): void {
  let [cell, sum, lost] = [-1, 0, 0]
  for (let index = 0; index < placed.length; index += 1) {
    const { block, cells: cellOf } = placed[index] ?? NO_BLOCK
    const source = block.columns[column]
    if (!source) continue
    const { keys } = block
    const last = end[index] ?? 0
    const first = one[index] ?? -1
    if (first >= 0 && first !== cell) {
      if (cell >= 0) sums[cell] = sum + lost
      cell = first - 1
      for (let row = from[index] ?? 0; row < last; row += 1) {
        cell += 1
        sums[cell] = source[row] ?? 0
      }
      sum = sums[cell] ?? 0
      lost = 0
      continue
    }
    for (let row = from[index] ?? 0; row < last; row += 1) {
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

function keepFirst(values: Float64Array, { placed, column, from, end }: Rows): void {
  let cell = -1
  for (let index = 0; index < placed.length; index += 1) {
    const { block, cells: cellOf } = placed[index] ?? NO_BLOCK
    const source = block.columns[column]
    if (!source) continue
    const { keys } = block
    const last = end[index] ?? 0
    for (let row = from[index] ?? 0; row < last; row += 1) {
      const next = cellOf[keys[row] ?? 0] ?? 0
      if (next !== cell) values[next] = source[row] ?? Number.NaN
      cell = next
    }
  }
}

function keepLast(values: Float64Array, { placed, column, from, end, one }: Rows): void {
  for (let index = 0; index < placed.length; index += 1) {
    const { block, cells: cellOf } = placed[index] ?? NO_BLOCK
    const source = block.columns[column]
    if (!source) continue
    const { keys } = block
    const last = end[index] ?? 0
    const first = one[index] ?? -1
    if (first >= 0) {
      for (let row = from[index] ?? 0, cell = first; row < last; row += 1, cell += 1) {
        values[cell] = source[row] ?? Number.NaN
      }
      continue
    }
    for (let row = from[index] ?? 0; row < last; row += 1) {
      values[cellOf[keys[row] ?? 0] ?? 0] = source[row] ?? Number.NaN
    }
  }
}

/** The largest of each cell where `sign` is 1, the smallest where it is -1. */
function keepExtreme(values: Float64Array, { placed, column, from, end }: Rows, sign: 1 | -1): void {
  let cell = -1
  for (let index = 0; index < placed.length; index += 1) {
    const { block, cells: cellOf } = placed[index] ?? NO_BLOCK
    const source = block.columns[column]
    if (!source) continue
    const { keys } = block
    const last = end[index] ?? 0
    for (let row = from[index] ?? 0; row < last; row += 1) {
      const value = source[row] ?? Number.NaN
      const next = cellOf[keys[row] ?? 0] ?? 0
      if (next !== cell || sign * value > sign * (values[next] ?? 0)) values[next] = value
      cell = next
    }
  }
}
