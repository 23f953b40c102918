import { zstdCompressSync } from 'node:zlib'
import {
  array,
  assert,
  constant,
  double,
  jsonValue,
  nat,
  oneof,
  property,
  record,
  string,
  tuple,
} from 'fast-check'
import { expect, it } from 'vitest'
import { ByteText } from './byte-text.ts'
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
/** Texts of bytes, divided anywhere. */
const texts = tuple(string({ unit: 'grapheme', maxLength: 8 }), nat(8)).map(([text, place]) => {
  const bytes = Buffer.from(text)
  return new ByteText([bytes.subarray(0, place), bytes.subarray(place)])
})
const marked = oneof(
  ...['\u00010 2', '\u0001\u00010 2', '\u0001', '\u0001t0 2'].map((text) => constant(text)),
)
const members = oneof(numbers, texts, jsonValue(), marked)
const values = oneof(members, array(members), record({ a: members, b: array(members) }))

/** Arrays of two kinds stand for rows and texts of bytes, so that equal texts mean equal values. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (member instanceof Float64Array) return ['row of', ...member]
    return member instanceof ByteText ? ['text', member.toString()] : member
  })
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

it('takes no text for a row of numbers or a text of bytes', () => {
  const row = Float64Array.of(1, 2)
  const bytes = new ByteText([Buffer.from('ab')])
  const texts = ['\u00010 2', '\u0001\u00010 2', '\u0001t0 2', '0 2', 't0 2', 'ab', '']
  const all = [
    row,
    [row],
    [1, 2],
    ...texts.flatMap((text) => [text, [text], [row, text], [text, row]]),
    [row.subarray(0, 1), row.subarray(1)],
    [row.subarray(0, 0), row],
    bytes,
    [row, bytes],
    [bytes, row],
    new ByteText([Buffer.from('ac')]),
    [new ByteText([]), bytes],
    [bytes, new ByteText([])],
  ]
  const etags = all.map((each) => contentOf(each)?.etag)
  expect(new Set(etags).size).toBe(etags.length)
})

it('is the same of a text of bytes, however it is divided', () => {
  const parts = ['', 'a', '', 'b'].map((part) => Buffer.from(part))
  expect(contentOf([new ByteText(parts)])).toEqual(contentOf([new ByteText([Buffer.from('ab')])]))
})

it('has nothing for what JSON leaves out, and throws for what it refuses', () => {
  expect(contentOf(undefined)).toBeNull()
  expect(() => contentOf({ n: 1n })).toThrow(TypeError)
})

it('stores nothing that is longer than it may be', async () => {
  expect(await encodeResult(Float64Array.from({ length: 1000 }), 1000)).toBeNull()
  expect(await encodeResult(new ByteText([Buffer.alloc(1000)]), 1000)).toBeNull()
})

it('takes nothing for an answer that an earlier release has stored in another form, and unpacks no more than it may', async () => {
  for (const value of [{ results: [] }, { frame: '{"rows":"{}"}', rows: [] }]) {
    expect(await decodeResult(zstdCompressSync(JSON.stringify(value)), BYTES_MAX)).toBeNull()
  }
  const body = await encodeResult(new ByteText([Buffer.alloc(1000)]), BYTES_MAX)
  await expect(decodeResult(body ?? Buffer.alloc(0), 1000)).rejects.toThrow('larger than 1000 bytes')
})
