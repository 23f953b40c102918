import type { BucketBlock } from './bucket-block.ts'
import { partsOf } from './bucket-source.ts'
import { createExactSum, lostIn, moveParts, SUM_PARTS } from './exact-sum.ts'
import type { ValuesBefore } from './metric-memory.ts'
import { NO_BLOCK, type PlacedBlock } from './place-blocks.ts'
import type { CellStatistic, MetricType } from './series-source.ts'

/** The cells of one series, filled anew for each. */
export interface CellFiller {
  /** Of cells whose samples are not counted, any number above 0 stands for some. */
  readonly count: Float64Array
  /** Does each cell hold samples, as far as that is known without looking? */
  readonly isFull: boolean
  readonly statistics: Readonly<Partial<Record<CellStatistic, Float64Array>>>
  /** What the blocks hold before the first edge: a gauge's last value, the sum of a counter's deltas and what came `before` them; NaN where nothing did. */
  readonly before: number
  /** The same in parts, as many as `SUM_PARTS` of a counter, until the next series is filled. */
  readonly beforeParts: Float64Array
  /** Samples in all cells filled so far, and before them, where they are counted. */
  readonly samples: number
  /** `before` is what series had come to where the blocks begin. */
  fill(place: number, before?: ValuesBefore): void
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
    return { statistic, column: placeOf(columns, column), isSum, values: new Float64Array(cells) }
  })
  const beforeColumn = placeOf(columns, type === 'counter' ? 'change' : 'last')
  const sumBefore = createExactSum()
  const beforeParts = new Float64Array(SUM_PARTS)
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
      before = column?.[row] ?? Number.NaN
      if (type === 'counter' && beforeColumn >= 0) addParts(columns, beforeColumn, row)
      if (isCounted) samples += counts[row] ?? 0
    }
  }

  function addParts(columns: readonly Float64Array[], first: number, row: number): void {
    for (let part = 0; part < SUM_PARTS; part += 1) {
      const value = columns[first + part]?.[row]
      if (value) sumBefore.add(value)
    }
  }

  /** Takes what a series had come to where the blocks begin. */
  function beginWith(values: ValuesBefore | undefined, place: number): void {
    sumBefore.clear()
    before = values?.[0]?.[place] ?? Number.NaN
    if (values && type === 'counter' && !Number.isNaN(before)) addParts(values, 0, place)
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
    get beforeParts() {
      if (type === 'counter' && !Number.isNaN(before)) moveParts(sumBefore, beforeParts, 0)
      else beforeParts.fill(0).fill(before, 0, 1)
      return beforeParts
    },
    fill(place, values) {
      beginWith(values, place)
      find(place)
      if (type === 'counter' && !Number.isNaN(before)) before = sumBefore.value()
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

/** The column of a statistic, of a sum that of its first part; -1 where it is none of the blocks'. */
function placeOf(statistics: readonly CellStatistic[], statistic: CellStatistic): number {
  const at = statistics.indexOf(statistic)
  return at < 0 ? -1 : partsOf(statistics.slice(0, at)).length
}

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

/** What two doubles do not hold of a sum, nearly always nothing. */
const remainder = createExactSum()

/** Sums of the rows of each cell: all their parts are added exactly, and rounded once. */
function addUp(sums: Float64Array, rows: Rows): void {
  const { placed, column, from, end } = rows
  let [cell, sum, lost] = [-1, 0, 0]
  let isHeld = true
  for (let index = 0; index < placed.length; index += 1) {
    const { block, cells: cellOf } = placed[index] ?? NO_BLOCK
    const source = block.columns[column]
    const last = end[index] ?? 0
    let row = from[index] ?? 0
    if (!source || row === last) continue
    // Of rows that are cells of their own, only the last one may go on in the next block.
    if (takeOver(sums, source, rows, index) >= 0) row = last - 1
    const { keys } = block
    let parts = 1
    while (parts < SUM_PARTS && (block.columns[column + parts]?.length ?? 0) > 0) parts += 1
    for (; row < last; row += 1) {
      const next = cellOf[keys[row] ?? 0] ?? 0
      if (next !== cell) {
        if (cell >= 0) sums[cell] = isHeld ? sum + lost : rounded(sum, lost)
        cell = next
        sum = 0
        lost = 0
        isHeld = true
      }
      let value = source[row] ?? 0
      for (let part = 1; value !== 0; part += 1) {
        const both = sum + value
        const rest = lostIn(sum, value, both)
        sum = both
        if (rest !== 0 && Number.isFinite(both)) {
          const all = lost + rest
          const beyond = lostIn(lost, rest, all)
          lost = all
          if (beyond !== 0) {
            if (isHeld) remainder.clear()
            isHeld = false
            remainder.add(beyond)
          }
        }
        value = part < parts ? (block.columns[column + part]?.[row] ?? 0) : 0
      }
    }
  }
  if (cell >= 0) sums[cell] = isHeld ? sum + lost : rounded(sum, lost)
}

function rounded(sum: number, lost: number): number {
  remainder.add(sum)
  remainder.add(lost)
  return remainder.value()
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
