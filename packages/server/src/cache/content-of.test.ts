import { array, assert, constant, double, jsonValue, oneof, property, tuple } from 'fast-check'
import { expect, it } from 'vitest'
import { contentOf } from './content-of.ts'

const numbers = array(oneof(double(), constant(null), constant(-0)), { minLength: 1, maxLength: 4 })
const values = oneof(jsonValue(), numbers, array(oneof(numbers, jsonValue(), constant('\u00012'))))

it('tells values apart exactly where their JSON differs', () => {
  assert(
    property(tuple(values, values), ([a, b]) => {
      const isEqual = JSON.stringify(a) === JSON.stringify(b)
      expect(contentOf(a)?.etag === contentOf(b)?.etag).toBe(isEqual)
      const copy: unknown = JSON.parse(JSON.stringify(a))
      expect(contentOf(copy)).toEqual(contentOf(a))
    }),
  )
})

it('takes no text for a row of numbers', () => {
  const row = [1, 2]
  const texts = ['\u00012', '\u0001\u00012', '2', '']
  const all = [
    row,
    [row],
    ...texts.flatMap((text) => [text, [text], [row, text], [text, row]]),
    [1, null],
    [1, 0],
  ]
  const etags = all.map((each) => contentOf(each)?.etag)
  expect(new Set(etags).size).toBe(etags.length)
})

it('has nothing for what JSON leaves out, and throws for what it refuses', () => {
  expect(contentOf(undefined)).toBeNull()
  expect(() => contentOf({ n: 1n })).toThrow(TypeError)
})
