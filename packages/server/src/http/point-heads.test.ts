import { array, assert, integer, oneof, property } from 'fast-check'
import { expect, it } from 'vitest'
import { HEAD_BYTES, pointHeads } from './point-heads.ts'

const seconds = oneof(integer({ min: -8.64e12, max: 8.64e12 }), integer({ min: -20, max: 120 }))

it('writes what JSON has before each value, for times before and after 1970 and of any number of digits (WI-4)', () => {
  assert(
    property(array(seconds, { maxLength: 30 }), (times) => {
      const ascending = times.toSorted((a, b) => a - b)
      const { words, lengths } = pointHeads(Float64Array.from(ascending))
      const bytes = Buffer.from(words.buffer)
      const texts = ascending.map((_, index) => {
        const at = index * HEAD_BYTES
        return bytes.toString('latin1', at, at + (lengths[index] ?? 0))
      })
      expect(texts).toEqual(ascending.map((each) => `,{"timestamp":"${each}","value":`))
    }),
  )
})
