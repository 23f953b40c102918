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
  /** One column for each number of a row (`partsOf`), in order; empty where it is a part of sums behind the first that is 0 in all rows. */
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
    counts.byteLength +
    columns.reduce((bytes, column) => bytes + column.byteLength, 0)
  )
}
