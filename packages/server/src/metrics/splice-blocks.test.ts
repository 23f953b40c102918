import { expect, it } from 'vitest'
import { EMPTY_BLOCK, type BucketBlock } from './bucket-block.ts'
import { HOURS } from './bucket-level.ts'
import { createBlockBuilder } from './block-builder.ts'
import { spliceBlocks } from './splice-blocks.ts'

const SERIES = 2
const FIRST_HOUR = 24 * 1000

/** One row of each series in each of the hours, with the hour as its value. */
async function blockOfHours(hours: readonly number[]): Promise<BucketBlock> {
  const builder = createBlockBuilder(HOURS, ['last'])
  for (const hour of hours) {
    for (let place = 0; place < SERIES; place += 1) {
      builder.add(place, 2 * (FIRST_HOUR + hour) + 1, 60, Float64Array.of(hour), 0)
    }
  }
  const blocks = await builder.finish(SERIES, { turn: () => undefined })
  return blocks.get(FIRST_HOUR / HOURS.bucketsPerBlock) ?? EMPTY_BLOCK
}

it.each([
  { head: [1, 2, 9], tail: [5, 6], both: [1, 2, 5, 6] },
  { head: [], tail: [5, 6], both: [5, 6] },
  { head: [1, 2], tail: [], both: [1, 2] },
  { head: [], tail: [], both: [] },
])(
  'hours $head up to the fifth and $tail from it on are $both, values and all (CA-6)',
  async ({ head, tail, both }) => {
    const spliced = spliceBlocks(await blockOfHours(head), await blockOfHours(tail), 5, SERIES, HOURS)
    expect([...spliced.starts]).toEqual([0, both.length, 2 * both.length])
    expect(Array.from(spliced.keys, (key) => key >> 1)).toEqual([...both, ...both])
    const [values = new Float64Array()] = spliced.columns
    expect([...values]).toEqual([...both, ...both])
  },
)
