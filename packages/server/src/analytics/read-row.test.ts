import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseColumnType } from './column-type.ts'
import { createRowReader } from './read-row.ts'

const read = (types: readonly string[], line: string | Buffer): readonly unknown[] =>
  createRowReader(types.map(parseColumnType))(Buffer.from(line))

it('keeps every digit: beyond 2^53 as text, up to it as a number (SQ-4)', () => {
  expect(
    read(['UInt64', 'Int64', 'Int64'], '[18446744073709551615, -9007199254740993, 9007199254740991]'),
  ).toEqual(['18446744073709551615', '-9007199254740993', 9007199254740991])
})

it('gives 128 and 256 bits and decimals as text however small (SQ-4)', () => {
  expect(read(['Int128', 'UInt256', 'Decimal(9, 2)', 'Nullable(Int256)'], '[5, 0, "1.50", null]')).toEqual([
    '5',
    '0',
    '1.50',
    null,
  ])
})

it('gives floats as numbers, also those with many digits (SQ-4)', () => {
  expect(
    read(
      ['Float64', 'Float64', 'Array(Float32)'],
      '[12345678901234567000, null, [1.5, 98765432109876540000]]',
    ),
  ).toEqual([12345678901234567000, null, [1.5, 98765432109876540000]])
})

it('looks into lists, maps and tuples', () => {
  const types = [
    'Array(Nullable(UInt256))',
    'Map(String, Date)',
    'Tuple(a UInt128, b String)',
    'Tuple(Date, UInt8)',
  ]
  expect(read(types, '[[1, null], {"k": "2024-01-01"}, {"a": 7, "b": "x"}, ["2024-02-03", 4]]')).toEqual([
    ['1', null],
    { k: '2024-01-01T00:00:00Z' },
    { a: '7', b: 'x' },
    ['2024-02-03T00:00:00Z', 4],
  ])
})

it('gives bytes that are no UTF-8 as base64 and leaves the others (SQ-4)', () => {
  const line = Buffer.concat([
    Buffer.from('["ünï\\u2028\\n", "'),
    Buffer.from([0xff, 0x41]),
    Buffer.from('", 18446744073709551615]'),
  ])
  expect(read(['String', 'String', 'UInt64'], line)).toEqual(['ünï\u2028\n', '/0E=', '18446744073709551615'])
})

it('reads back every integer and text (SQ-4)', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      fc.string({ unit: 'binary' }),
      (integer, text) => {
        const values = read(['Int64', 'String'], `[${integer},${JSON.stringify(text)}]`)
        expect(String(values[0])).toBe(String(integer))
        expect(values[1]).toBe(text)
      },
    ),
  )
})
