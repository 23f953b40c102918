import { assert, asyncProperty, integer, record, uniqueArray } from 'fast-check'
import { expect, it } from 'vitest'
import { createBlockBuilder } from './block-builder.ts'
import type { BucketLevel } from './bucket-level.ts'

const SERIES = 4
const LEVEL: BucketLevel = { name: '5m', bucketMicros: 300_000_000, bucketsPerBlock: 3 }
const KEYS_PER_BLOCK = 6

const rows = uniqueArray(
  record({
    place: integer({ min: 0, max: SERIES - 1 }),
    key: integer({ min: 60, max: 84 }),
    count: integer(),
  }),
  { selector: ({ place, key }) => `${place} ${key}`, maxLength: 100 },
)

it('has the rows of each block by series and key, in whatever order they came', async () => {
  await assert(
    asyncProperty(rows, async (given) => {
      const builder = createBlockBuilder(LEVEL, ['first', 'last'])
      for (const { place, key, count } of given)
        builder.add(place, key, count, Float64Array.of(0, key, place), 1)
      const blocks = await builder.finish(SERIES, { turn: () => undefined })
      const expected = Map.groupBy(given, ({ key }) => Math.floor(key / KEYS_PER_BLOCK))
      expect(new Set(blocks.keys())).toEqual(new Set(expected.keys()))
      for (const [number, block] of blocks) {
        const found = Array.from({ length: SERIES }, (_, place) =>
          Array.from({ length: (block.starts[place + 1] ?? 0) - (block.starts[place] ?? 0) }, (__, i) => {
            const row = (block.starts[place] ?? 0) + i
            const key = number * KEYS_PER_BLOCK + (block.keys[row] ?? 0)
            expect(block.columns.map((column) => column[row])).toEqual([key, place])
            return { place, key, count: block.counts[row] }
          }),
        ).flat()
        const wanted = (expected.get(number) ?? []).toSorted((a, b) => a.place - b.place || a.key - b.key)
        expect(found).toEqual(wanted)
        for (let place = 0; place < SERIES; place += 1) {
          const keys = wanted.filter((row) => row.place === place).map(({ key }) => key % KEYS_PER_BLOCK)
          expect(block.isRegular[place]).toBe(keys.join() === '1,3,5' ? 1 : 0)
        }
      }
    }),
  )
})
