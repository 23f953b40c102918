import { zstdCompressSync } from 'node:zlib'
import { array, assert, constant, double, jsonValue, oneof, property, record, tuple } from 'fast-check'
import { expect, it } from 'vitest'
import { contentOf } from './content-of.ts'
import { decodeResult, encodeResult } from './result-codec.ts'

const BYTES_MAX = 2 ** 20
/** Of numbers that are none and of zeros there is one each, as in answers. */
const numbers = array(
  double({ noNaN: false }).map((value) => (Number.isFinite(value) ? value + 0 : Number.NaN)),
  {
    maxLength: 4,
  },
).map((row) => Float64Array.from(row))
const marked = oneof(constant('\u00010 2'), constant('\u0001\u00010 2'), constant('\u0001'))
const members = oneof(numbers, jsonValue(), marked)
const values = oneof(members, array(members), record({ a: members, b: array(members) }))

/** Arrays of one kind stand for rows, so that equal texts mean equal values. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    member instanceof Float64Array ? ['row of', ...member] : member,
  )
}

it('tells values apart exactly where they differ', () => {
  assert(
    property(tuple(values, values), ([a, b]) => {
      expect(contentOf(a)?.etag === contentOf(b)?.etag).toBe(textOf(a) === textOf(b))
    }),
  )
})

it('is the same of what was stored', async () => {
  const stored: unknown[] = []
  assert(property(values, (value) => void stored.push(value)))
  for (const value of stored) {
    const body = await encodeResult(value, BYTES_MAX)
    const decoded = body && (await decodeResult(body, BYTES_MAX))
    expect(textOf(decoded?.value)).toBe(textOf(value))
    expect(contentOf(decoded?.value)).toEqual(contentOf(value))
  }
})

it('takes no text for a row of numbers', () => {
  const row = Float64Array.of(1, 2)
  const texts = ['\u00010 2', '\u0001\u00010 2', '0 2', '']
  const all = [
    row,
    [row],
    [1, 2],
    ...texts.flatMap((text) => [text, [text], [row, text], [text, row]]),
    [row.subarray(0, 1), row.subarray(1)],
    [row.subarray(0, 0), row],
  ]
  const etags = all.map((each) => contentOf(each)?.etag)
  expect(new Set(etags).size).toBe(etags.length)
})

it('has nothing for what JSON leaves out, and throws for what it refuses', () => {
  expect(contentOf(undefined)).toBeNull()
  expect(() => contentOf({ n: 1n })).toThrow(TypeError)
})

it('stores nothing that is longer than it may be, and takes nothing for an answer that is none', async () => {
  expect(await encodeResult(Float64Array.from({ length: 1000 }), 1000)).toBeNull()
  const earlier = zstdCompressSync(JSON.stringify({ results: [] }))
  expect(await decodeResult(earlier, BYTES_MAX)).toBeNull()
  await expect(decodeResult(earlier, 8)).rejects.toThrow('larger than 8 bytes')
})
