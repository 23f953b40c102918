import { expect, it } from 'vitest'
import type { Outgoing } from './contender.ts'
import { feed } from './feed.ts'

const at = ({ data }: Outgoing): number => (JSON.parse(data) as { readonly at: number }).at

it('dates messages at the instant they were due, however late they are sent', async () => {
  const blocks: (readonly Outgoing[])[] = []
  const { accepted, refused } = await feed(
    (messages) => {
      blocks.push(messages)
      // Nothing else runs until a later block is due.
      for (const until = performance.now() + 15; performance.now() < until;);
      return Promise.resolve()
    },
    { perSecond: 300, seconds: 0.1, channels: 3, firstN: 7 },
  )
  const [first = 0] = blocks.flat().map(at)
  expect(blocks.flat().map((message) => Math.round(at(message) - first))).toEqual(
    Array.from({ length: 30 }, (_, index) => Math.floor(index / 3) * 10),
  )
  expect(accepted).toEqual(Array.from({ length: 30 }, (_, index) => 7 + index))
  expect(refused).toBe(0)
})

it('tells of what was not accepted, and why the first was not', async () => {
  const { accepted, refused, refusal } = await feed(
    ([message]) => (message?.n === 0 ? Promise.reject(new Error('no room')) : Promise.resolve()),
    { perSecond: 300, seconds: 0.03, channels: 1, firstN: 0 },
  )
  expect(accepted).toEqual([3, 4, 5, 6, 7, 8])
  expect({ refused, refusal }).toEqual({ refused: 3, refusal: 'no room' })
})
