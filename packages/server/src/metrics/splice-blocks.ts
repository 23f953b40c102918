import { findRegular } from './block-builder.ts'
import type { BucketBlock } from './bucket-block.ts'
import type { BucketLevel } from './bucket-level.ts'

/** The rows of one block before a bucket, and behind them those of another, which has none before it; for so many series. */
export function spliceBlocks(
  head: BucketBlock,
  tail: BucketBlock,
  bucket: number,
  series: number,
  { bucketsPerBlock }: BucketLevel,
): BucketBlock {
  const headEnds = new Int32Array(series)
  const starts = new Int32Array(series + 1)
  for (let place = 0; place < series; place += 1) {
    const from = head.starts[place] ?? 0
    let end = place + 1 < head.starts.length ? (head.starts[place + 1] ?? 0) : from
    while (end > from && (head.keys[end - 1] ?? 0) >= 2 * bucket) end -= 1
    headEnds[place] = end
    starts[place + 1] = (starts[place] ?? 0) + end - from + rowsAt(tail, place)
  }
  const rows = starts[series] ?? 0
  const keys = new Uint8Array(rows)
  // A block without rows has no columns.
  const columnsOfBoth = Math.max(head.columns.length, tail.columns.length)
  const pairs = Array.from({ length: 1 + columnsOfBoth }, (_, column) => {
    const [ofHead, ofTail] = [numbersOf(head, column), numbersOf(tail, column)]
    // Parts of sums that are 0 in all rows are not there.
    return { ofHead, ofTail, both: new Float64Array(ofHead.length + ofTail.length > 0 ? rows : 0) }
  })
  for (let place = 0; place < series; place += 1) {
    let at = starts[place] ?? 0
    const end = headEnds[place] ?? 0
    for (let row = head.starts[place] ?? 0; row < end; row += 1, at += 1) {
      keys[at] = head.keys[row] ?? 0
      for (const { ofHead, both } of pairs) both[at] = ofHead[row] ?? 0
    }
    const first = tail.starts[place] ?? 0
    for (let row = first; row < first + rowsAt(tail, place); row += 1, at += 1) {
      keys[at] = tail.keys[row] ?? 0
      for (const { ofTail, both } of pairs) both[at] = ofTail[row] ?? 0
    }
  }
  const [counts = new Float64Array(), ...columns] = pairs.map(({ both }) => both)
  return { starts, keys, isRegular: findRegular(starts, keys, bucketsPerBlock), counts, columns }
}

function rowsAt({ starts }: BucketBlock, place: number): number {
  return place + 1 < starts.length ? (starts[place + 1] ?? 0) - (starts[place] ?? 0) : 0
}

function numbersOf({ counts, columns }: BucketBlock, column: number): Float64Array {
  return column === 0 ? counts : (columns[column - 1] ?? new Float64Array())
}
