import { getOrMake } from '../platform/get-or-make.ts'
import type { BucketBlock } from './bucket-block.ts'
import type { BucketLevel } from './bucket-level.ts'
import { partsOf } from './bucket-source.ts'
import type { Pace } from './pace.ts'
import type { CellStatistic } from './series-source.ts'

/** Gathers rows in any order and sorts them into blocks. */
export interface BlockBuilder {
  /** `place` is the series' place. */
  add(place: number, key: number, count: number, numbers: Float64Array, at: number): void
  /** The blocks by their numbers; those without rows are absent. */
  finish(series: number, pace: Pace): Promise<ReadonlyMap<number, BucketBlock>>
}

/** The rows of one block as they came, so that those that are sorted together stand together. */
interface Rows {
  readonly number: number
  length: number
  places: Int32Array
  /** Within the block. */
  keys: Uint8Array
  /** Of each row the count, then its columns. */
  numbers: Float64Array
}

const FIRST_CAPACITY = 64
const NO_NUMBERS = new Float64Array()

/** A builder of blocks with these statistics. */
export function createBlockBuilder(
  { bucketsPerBlock }: BucketLevel,
  statistics: readonly CellStatistic[],
): BlockBuilder {
  const parts = partsOf(statistics)
  const width = parts.length
  const stride = 1 + width
  const keysPerBlock = 2 * bucketsPerBlock
  const gathered = new Map<number, Rows>()

  const rowsOf = (number: number): Rows =>
    getOrMake(gathered, number, () => ({
      number,
      length: 0,
      places: new Int32Array(FIRST_CAPACITY),
      keys: new Uint8Array(FIRST_CAPACITY),
      numbers: new Float64Array(FIRST_CAPACITY * stride),
    }))

  function sortRows({ length, places, keys, numbers }: Rows, series: number): BucketBlock {
    // By key, then by place, which keeps the order of keys: each time it is counted where the next one goes.
    const nextOfKey = new Int32Array(keysPerBlock + 1)
    const starts = new Int32Array(series + 1)
    for (let row = 0; row < length; row += 1) {
      increment(nextOfKey, (keys[row] ?? 0) + 1)
      increment(starts, (places[row] ?? 0) + 1)
    }
    addUp(nextOfKey)
    addUp(starts)
    const byKey = new Int32Array(length)
    for (let row = 0; row < length; row += 1) byKey[increment(nextOfKey, keys[row] ?? 0)] = row
    const order = new Int32Array(length)
    const nextOfPlace = starts.slice()
    for (let i = 0; i < length; i += 1) {
      const row = byKey[i] ?? 0
      order[increment(nextOfPlace, places[row] ?? 0)] = row
    }

    const sortedKeys = new Uint8Array(length)
    for (let i = 0; i < length; i += 1) sortedKeys[i] = keys[order[i] ?? 0] ?? 0
    const pick = (column: number): Float64Array => {
      const picked = new Float64Array(length)
      for (let i = 0; i < length; i += 1) picked[i] = numbers[(order[i] ?? 0) * stride + column] ?? Number.NaN
      return picked
    }
    return {
      starts,
      keys: sortedKeys,
      isRegular: findRegular(starts, sortedKeys, bucketsPerBlock),
      counts: pick(0),
      columns: parts.map((part, column) => {
        const picked = pick(column + 1)
        return part > 0 && picked.every((value) => value === 0) ? NO_NUMBERS : picked
      }),
    }
  }

  let current: Rows | null = null
  return {
    add(place, key, count, given, at) {
      const number = Math.floor(key / keysPerBlock)
      if (current?.number !== number) current = rowsOf(number)
      const row = current.length
      if (row === current.places.length) grow(current)
      current.length = row + 1
      current.places[row] = place
      current.keys[row] = key - number * keysPerBlock
      const start = row * stride
      current.numbers[start] = count
      for (let column = 0; column < width; column += 1) {
        current.numbers[start + 1 + column] = given[at + column] ?? Number.NaN
      }
    },

    async finish(series, pace) {
      const blocks = new Map<number, BucketBlock>()
      for (const [number, rows] of gathered) {
        blocks.set(number, sortRows(rows, series))
        gathered.delete(number)
        await pace.turn()
      }
      return blocks
    },
  }
}

function grow(rows: Rows): void {
  const { places, keys, numbers } = rows
  rows.places = new Int32Array(2 * places.length)
  rows.places.set(places)
  rows.keys = new Uint8Array(2 * keys.length)
  rows.keys.set(keys)
  rows.numbers = new Float64Array(2 * numbers.length)
  rows.numbers.set(numbers)
}

/** Adds one at a place, and tells what stood there. */
function increment(counts: Int32Array, place: number): number {
  const before = counts[place] ?? 0
  counts[place] = before + 1
  return before
}

function addUp(counts: Int32Array): void {
  for (let i = 1; i < counts.length; i += 1) counts[i] = (counts[i] ?? 0) + (counts[i - 1] ?? 0)
}

/** The places of series with one row for each bucket, none of them for a first microsecond. */
export function findRegular(starts: Int32Array, keys: Uint8Array, bucketsPerBlock: number): Uint8Array {
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
