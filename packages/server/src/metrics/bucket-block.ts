import type { BucketLevel } from './bucket-level.ts'
import type { OnBucketRow } from './bucket-source.ts'
import type { Pace } from './pace.ts'

/**
 * The buckets of all series of a metric in one stretch of time. The rows of the series at place `p` are `[starts[p], starts[p + 1])`, by
 * ascending key; `keys` are twice the number of the bucket within the block, and one more for the samples after its first microsecond.
 */
export interface BucketBlock {
  readonly starts: Int32Array
  readonly keys: Uint8Array
  /** 1 at the places of series with one row for each bucket, none of them for a first microsecond. */
  readonly isRegular: Uint8Array
  readonly counts: Float64Array
  /** One column for each statistic of the order, in its order. */
  readonly columns: readonly Float64Array[]
}

/** A block without any rows. */
export const EMPTY_BLOCK: BucketBlock = {
  starts: new Int32Array(1),
  keys: new Uint8Array(),
  isRegular: new Uint8Array(),
  counts: new Float64Array(),
  columns: [],
}

/** What a block holds in memory. */
export function bytesOfBlock({ starts, keys, isRegular, counts, columns }: BucketBlock): number {
  // Every object costs something.
  return (
    500 +
    starts.byteLength +
    keys.byteLength +
    isRegular.byteLength +
    counts.byteLength * (1 + columns.length)
  )
}

/** Gathers rows in any order and sorts them into blocks. */
export interface BlockBuilder {
  /** `place` is the series' place. */
  add(place: number, key: number, count: number, numbers: Float64Array, at: number): void
  /** The blocks by their numbers; those without rows are absent. */
  finish(series: number, pace: Pace): Promise<ReadonlyMap<number, BucketBlock>>
}

const FIRST_CAPACITY = 4096

/** A builder of blocks with `width` columns. */
export function createBlockBuilder({ bucketsPerBlock }: BucketLevel, width: number): BlockBuilder {
  let rows = 0
  let places = new Int32Array(FIRST_CAPACITY)
  let keys = new Int32Array(FIRST_CAPACITY)
  // Count and columns of a row stand together.
  const stride = 1 + width
  let numbers = new Float64Array(FIRST_CAPACITY * stride)
  let [lowest, highest] = [Infinity, -Infinity]
  const keysPerBlock = 2 * bucketsPerBlock

  function grow(): void {
    const capacity = 2 * places.length
    const [oldPlaces, oldKeys, oldNumbers] = [places, keys, numbers]
    places = new Int32Array(capacity)
    places.set(oldPlaces)
    keys = new Int32Array(capacity)
    keys.set(oldKeys)
    numbers = new Float64Array(capacity * stride)
    numbers.set(oldNumbers)
  }

  return {
    add(place, key, count, given, at) {
      if (rows === places.length) grow()
      places[rows] = place
      keys[rows] = key
      const start = rows * stride
      numbers[start] = count
      for (let column = 0; column < width; column += 1) {
        numbers[start + 1 + column] = given[at + column] ?? Number.NaN
      }
      if (key < lowest) lowest = key
      if (key > highest) highest = key
      rows += 1
    },

    async finish(series, pace) {
      const blocks = new Map<number, BucketBlock>()
      if (rows === 0) return blocks
      const first = Math.floor(lowest / keysPerBlock)
      // Rows by block: first how many there are, then where the next one goes.
      const ends = new Int32Array(Math.floor(highest / keysPerBlock) - first + 2)
      const blockOfRow = (row: number) => Math.floor((keys[row] ?? 0) / keysPerBlock) - first
      for (let row = 0; row < rows; row += 1) {
        const next = blockOfRow(row) + 1
        ends[next] = (ends[next] ?? 0) + 1
      }
      await pace.turn()
      for (let block = 1; block < ends.length; block += 1) {
        ends[block] = (ends[block] ?? 0) + (ends[block - 1] ?? 0)
      }
      const byBlock = new Int32Array(rows)
      const starts = ends.slice()
      for (let row = 0; row < rows; row += 1) {
        const block = blockOfRow(row)
        const at = starts[block] ?? 0
        byBlock[at] = row
        starts[block] = at + 1
      }
      await pace.turn()
      for (let block = 0; block + 1 < ends.length; block += 1) {
        const list = byBlock.subarray(ends[block], ends[block + 1])
        if (list.length === 0) continue
        blocks.set(first + block, sortBlock(list, (first + block) * keysPerBlock))
        await pace.turn()
      }
      return blocks

      function sortBlock(list: Int32Array, firstKey: number): BucketBlock {
        const starts = new Int32Array(series + 1)
        for (const row of list) {
          const next = (places[row] ?? 0) + 1
          starts[next] = (starts[next] ?? 0) + 1
        }
        for (let place = 0; place < series; place += 1) {
          starts[place + 1] = (starts[place + 1] ?? 0) + (starts[place] ?? 0)
        }
        const ends = starts.slice(0, series)
        const order = new Int32Array(list.length)
        for (const row of list) {
          const place = places[row] ?? 0
          const end = ends[place] ?? 0
          // Rows of a series are few, and mostly come in order.
          let at = end
          for (; at > (starts[place] ?? 0); at -= 1) {
            const before = order[at - 1] ?? 0
            if ((keys[before] ?? 0) <= (keys[row] ?? 0)) break
            order[at] = before
          }
          order[at] = row
          ends[place] = end + 1
        }
        const pick = (column: number): Float64Array => {
          const picked = new Float64Array(order.length)
          for (let i = 0; i < order.length; i += 1) {
            picked[i] = numbers[(order[i] ?? 0) * stride + column] ?? Number.NaN
          }
          return picked
        }
        const sortedKeys = Uint8Array.from(order, (row) => (keys[row] ?? 0) - firstKey)
        return {
          starts,
          keys: sortedKeys,
          isRegular: findRegular(starts, sortedKeys, bucketsPerBlock),
          counts: pick(0),
          columns: Array.from({ length: width }, (_, column) => pick(column + 1)),
        }
      }
    },
  }
}

function findRegular(starts: Int32Array, keys: Uint8Array, bucketsPerBlock: number): Uint8Array {
  const isRegular = new Uint8Array(starts.length - 1)
  for (let place = 0; place < isRegular.length; place += 1) {
    const start = starts[place] ?? 0
    if ((starts[place + 1] ?? 0) - start !== bucketsPerBlock) continue
    let bucket = 0
    while (bucket < bucketsPerBlock && keys[start + bucket] === 2 * bucket + 1) bucket += 1
    if (bucket === bucketsPerBlock) isRegular[place] = 1
  }
  return isRegular
}

/** Takes rows by the ids of their series; those of unknown series wait until they are known. */
export interface RowSorter {
  readonly onRow: OnBucketRow
  /** Were there rows of series that `find` did not know? */
  readonly hasUnknown: boolean
  /** Adds the rows that waited, now that `find` knows their series. */
  addUnknown(find: (high: number, low: number) => number): void
}

/** Sorts rows by what `find` knows into `add`. */
export function createRowSorter(
  find: (high: number, low: number) => number,
  width: number,
  add: BlockBuilder['add'],
): RowSorter {
  const waiting: { high: number; low: number; key: number; count: number; numbers: Float64Array }[] = []
  return {
    onRow: (high, low, key, count, numbers, at) => {
      const place = find(high, low)
      if (place >= 0) add(place, key, count, numbers, at)
      else waiting.push({ high, low, key, count, numbers: numbers.slice(at, at + width) })
    },
    get hasUnknown() {
      return waiting.length > 0
    },
    addUnknown: (findNow) => {
      for (const { high, low, key, count, numbers } of waiting.splice(0)) {
        const place = findNow(high, low)
        if (place >= 0) add(place, key, count, numbers, 0)
      }
    },
  }
}
