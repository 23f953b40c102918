import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createBlockBuilder } from './block-builder.ts'
import { EMPTY_BLOCK } from './bucket-block.ts'
import { createCellFiller } from './bucket-cells.ts'
import { blockStart, type BucketLevel } from './bucket-level.ts'
import { partsOf } from './bucket-source.ts'
import { createPace } from './pace.ts'
import { placeBlocks } from './place-blocks.ts'
import type { CellStatistic } from './series-source.ts'

const LEVEL: BucketLevel = { name: '5m', bucketMicros: 300_000_000, bucketsPerBlock: 12 }
const BLOCKS = 3
const BUCKETS = BLOCKS * LEVEL.bucketsPerBlock
const FIRST_BLOCK = 1000
const START = blockStart(FIRST_BLOCK, LEVEL)
const SERIES = 3
const COLUMNS: readonly CellStatistic[] = ['first', 'last', 'max', 'min', 'sum']

interface Row {
  readonly place: number
  readonly bucket: number
  readonly isAfterFirst: 0 | 1
  readonly count: number
  readonly value: number
}

/** A series with one row in each bucket after its first microsecond, as a busy one has, or with rows here and there. */
const rowsOfSeries = (place: number) =>
  fc
    .tuple(
      fc.boolean(),
      fc.array(
        fc.record({
          isThere: fc.boolean(),
          count: fc.integer({ min: 1, max: 9 }),
          value: fc.integer({ min: -50, max: 50 }),
        }),
        { minLength: 2 * BUCKETS, maxLength: 2 * BUCKETS },
      ),
    )
    .map(([isBusy, all]) =>
      all.flatMap(({ isThere, count, value }, at): Row[] => {
        const isAfterFirst = at % 2 === 1 ? 1 : 0
        const bucket = at >> 1
        const isTaken = isBusy ? isAfterFirst === 1 : isThere
        return isTaken ? [{ place, bucket, isAfterFirst, count, value }] : []
      }),
    )

/** Cells of one bucket and more, which begin at or just after the first microsecond of one, anywhere in the blocks. */
const edgesWithin = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 0, max: BUCKETS }), { minLength: 2, maxLength: BUCKETS }),
    fc.constantFrom(0, 1),
    fc.boolean(),
  )
  .map(([chosen, shift, isEach]) => {
    const [first, last] = [Math.min(...chosen), Math.max(...chosen)]
    const each = Array.from({ length: last - first + 1 }, (_, index) => first + index)
    const buckets = isEach ? each : chosen.toSorted((a, b) => a - b)
    return Float64Array.from(buckets, (bucket) => START + bucket * LEVEL.bucketMicros + shift)
  })

it('cells have what the buckets between their edges have, whether series have one in each or not (MQ-3, CA-6)', async () => {
  const rows = fc.tuple(...Array.from({ length: SERIES }, (_, place) => rowsOfSeries(place)))
  await fc.assert(
    fc.asyncProperty(rows, edgesWithin, fc.boolean(), async (ofSeries, edges, isCounted) => {
      const builder = createBlockBuilder(LEVEL, COLUMNS)
      for (const { place, bucket, isAfterFirst, count, value } of ofSeries.flat()) {
        const key = 2 * (FIRST_BLOCK * LEVEL.bucketsPerBlock + bucket) + isAfterFirst
        builder.add(
          place,
          key,
          count,
          Float64Array.from(partsOf(COLUMNS), (part) => (part === 0 ? value : 0)),
          0,
        )
      }
      const pace = createPace({ now: () => 0, monotonic: () => 0 }, new AbortController().signal)
      const built = await builder.finish(SERIES, pace)
      const from = Math.floor(((edges[0] ?? 0) - START) / (LEVEL.bucketMicros * LEVEL.bucketsPerBlock))
      const blocks = Array.from(
        { length: BLOCKS - from },
        (_, index) => built.get(FIRST_BLOCK + from + index) ?? EMPTY_BLOCK,
      )
      const cells = edges.length - 1
      const filler = createCellFiller(placeBlocks(blocks, LEVEL, edges), {
        type: 'gauge',
        columns: COLUMNS,
        wanted: COLUMNS,
        cells,
        isCounted,
      })
      for (let place = 0; place < SERIES; place += 1) {
        filler.fill(place)
        const timed = (ofSeries[place] ?? []).map(({ bucket, isAfterFirst, ...row }) => ({
          ...row,
          at: START + bucket * LEVEL.bucketMicros + isAfterFirst,
        }))
        const inCells = Array.from({ length: cells }, (_, cell) =>
          timed.filter(({ at }) => at >= (edges[cell] ?? 0) && at < (edges[cell + 1] ?? 0)),
        )
        const counts = inCells.map((inside) => inside.reduce((sum, { count }) => sum + count, 0))
        if (isCounted) expect([...filler.count]).toEqual(counts)
        expect(Array.from(filler.count, (count) => count > 0)).toEqual(counts.map((count) => count > 0))
        if (filler.isFull) expect(counts.every((count) => count > 0)).toBe(true)
        for (const [cell, inside] of inCells.entries()) {
          if (inside.length === 0) continue
          const values = inside.map(({ value }) => value)
          expect(COLUMNS.map((column) => filler.statistics[column]?.[cell])).toEqual([
            values[0],
            values.at(-1),
            Math.max(...values),
            Math.min(...values),
            values.reduce((sum, value) => sum + value, 0),
          ])
        }
        const blockOfFirst = START + from * LEVEL.bucketMicros * LEVEL.bucketsPerBlock
        const earlier = timed.filter(({ at }) => at >= blockOfFirst && at < (edges[0] ?? 0))
        expect(filler.before).toEqual(earlier.at(-1)?.value ?? Number.NaN)
      }
    }),
  )
})
