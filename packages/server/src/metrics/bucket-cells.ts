import type { BucketBlock } from './bucket-block.ts'
import { blockOf, blockStart, type BucketLevel } from './bucket-level.ts'
import { lostIn } from './range-aggregate.ts'
import type { CellStatistic, MetricType } from './series-source.ts'

/** A block and the cell of each of its keys: -1 before the first edge, the number of cells from the last one on. */
interface PlacedBlock {
  readonly block: BucketBlock
  readonly cells: Int32Array
}

/** The blocks of a stretch, laid over the cells of a plan. */
export function placeBlocks(
  blocks: readonly BucketBlock[],
  level: BucketLevel,
  edges: Float64Array,
): readonly PlacedBlock[] {
  const first = blockOf(edges[0] ?? 0, level)
  let next = 0
  return blocks.map((block, index) => {
    const start = blockStart(first + index, level)
    const cells = new Int32Array(2 * level.bucketsPerBlock)
    for (let key = 0; key < cells.length; key += 1) {
      const time = start + (key >> 1) * level.bucketMicros + (key & 1)
      while (next < edges.length && (edges[next] ?? Infinity) <= time) next += 1
      cells[key] = next - 1
    }
    return { block, cells }
  })
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
    return {
      statistic,
      column: columns.indexOf(column),
      values: new Float64Array(cells),
      lost: isSum ? new Float64Array(cells) : null,
    }
  })
  const beforeColumn = columns.indexOf(type === 'counter' ? 'change' : 'last')
  const statistics = Object.fromEntries(targets.map(({ statistic, values }) => [statistic, values]))
  let before = Number.NaN
  let samples = 0

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
      for (const { statistic, values, lost } of targets) {
        lost?.fill(0)
        values.fill(statistic === 'min' ? Infinity : statistic === 'max' ? -Infinity : 0)
      }
      for (const { block, cells: cellOf } of placed) {
        const { starts, keys, counts, columns } = block
        if (place + 1 >= starts.length) continue
        let row = starts[place] ?? 0
        const end = starts[place + 1] ?? 0
        for (; row < end && (cellOf[keys[row] ?? 0] ?? 0) < 0; row += 1) {
          const value = columns[beforeColumn]?.[row] ?? Number.NaN
          samples += counts[row] ?? 0
          before = type === 'counter' && !Number.isNaN(before) ? before + value : value
        }
        const from = row
        for (const { statistic, column, values, lost } of targets) {
          const source = columns[column]
          if (!source) continue
          const rows = { source, keys, cellOf, from, end }
          if (lost) addUp(values, lost, rows)
          else if (statistic === 'first') keepFirst(values, count, rows)
          else if (statistic === 'min') keepLeast(values, rows)
          else if (statistic === 'max') keepMost(values, rows)
          else keepLast(values, rows)
        }
        for (; row < end; row += 1) {
          const cell = cellOf[keys[row] ?? 0] ?? 0
          if (cell >= cells) break
          const inRow = counts[row] ?? 0
          count[cell] = (count[cell] ?? 0) + inRow
          samples += inRow
        }
      }
      for (const { values, lost } of targets) {
        if (!lost) continue
        for (let cell = 0; cell < cells; cell += 1) values[cell] = (values[cell] ?? 0) + (lost[cell] ?? 0)
      }
    },
  }
}

/** Rows `[from, end)` of one column of a series, ascending in time, and the cells of their keys. */
interface Rows {
  readonly source: Float64Array
  readonly keys: Uint8Array
  readonly cellOf: Int32Array
  readonly from: number
  readonly end: number
}

/** Adds rows to cells, with what rounding takes away in `lost`. */
function addUp(sums: Float64Array, lost: Float64Array, { source, keys, cellOf, from, end }: Rows): void {
  for (let row = from; row < end; row += 1) {
    const cell = cellOf[keys[row] ?? 0] ?? 0
    if (cell >= sums.length) return
    const [sum, value] = [sums[cell] ?? 0, source[row] ?? 0]
    const next = sum + value
    lost[cell] = (lost[cell] ?? 0) + lostIn(sum, value, next)
    sums[cell] = next
  }
}

/** Backwards, so that the first one stays; blocks before this one have been first already, which `count` tells. */
function keepFirst(
  values: Float64Array,
  count: Float64Array,
  { source, keys, cellOf, from, end }: Rows,
): void {
  for (let row = end - 1; row >= from; row -= 1) {
    const cell = cellOf[keys[row] ?? 0] ?? 0
    if (cell < values.length && !count[cell]) values[cell] = source[row] ?? Number.NaN
  }
}

function keepLast(values: Float64Array, { source, keys, cellOf, from, end }: Rows): void {
  for (let row = from; row < end; row += 1) {
    const cell = cellOf[keys[row] ?? 0] ?? 0
    if (cell >= values.length) return
    values[cell] = source[row] ?? Number.NaN
  }
}

function keepLeast(values: Float64Array, { source, keys, cellOf, from, end }: Rows): void {
  for (let row = from; row < end; row += 1) {
    const cell = cellOf[keys[row] ?? 0] ?? 0
    if (cell >= values.length) return
    const value = source[row] ?? Number.NaN
    if (value < (values[cell] ?? Infinity)) values[cell] = value
  }
}

function keepMost(values: Float64Array, { source, keys, cellOf, from, end }: Rows): void {
  for (let row = from; row < end; row += 1) {
    const cell = cellOf[keys[row] ?? 0] ?? 0
    if (cell >= values.length) return
    const value = source[row] ?? Number.NaN
    if (value > (values[cell] ?? -Infinity)) values[cell] = value
  }
}
