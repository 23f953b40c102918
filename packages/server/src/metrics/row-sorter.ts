import type { BlockBuilder } from './block-builder.ts'
import type { OnBucketRow } from './bucket-source.ts'

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
