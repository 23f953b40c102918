import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { readColumns } from './columns.ts'
import { createRowEncoder } from './encode-rows.ts'
import { createRowReader } from './read-row.ts'

function encode(types: readonly string[], lines: readonly (string | Buffer)[]): unknown[] {
  const { columns, types: parsed } = readColumns(
    types.map((_, n) => `c${n}`),
    types,
  )
  const block = Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]))
  const { bytes, ends } = createRowEncoder(columns, parsed)(block)
  return ends.map((end, n) => {
    const row = bytes.toString('utf8', n === 0 ? 0 : ends[n - 1], end)
    expect(row.endsWith(',\n')).toBe(true)
    return Object.values(JSON.parse(row.slice(0, -2)) as object)
  })
}

function parse(types: readonly string[], line: string | Buffer): readonly unknown[] {
  const { types: parsed } = readColumns(types, types)
  return createRowReader(parsed)(Buffer.from(line))
}

const CASES: readonly (readonly [readonly string[], string | Buffer])[] = [
  [['UInt64', 'Int64', 'Int64'], '[18446744073709551615, -9007199254740993, 9007199254740991]'],
  [['Int128', 'UInt256', 'Decimal(9, 2)', 'Nullable(Int256)'], '[5, 0, "1.50", null]'],
  [['Float64', 'Float64', 'Array(Float32)'], '[12345678901234567000, null, [1.5, 98765432109876540000]]'],
  [['Date', 'Nullable(Date32)', 'LowCardinality(String)'], '["2024-01-01", null, "a]b,\\"c\\\\"]'],
  [['Array(UInt64)', 'Map(String, String)', 'UInt8'], '[[1, 2], {"a,]": "12345678901234567890"}, 3]'],
  [['Array(UInt64)', 'Tuple(a UInt8, b String)'], '[[18446744073709551615], {"a": 7, "b": "}"}]'],
  [['Array(Nullable(UInt256))', 'Map(String, Date)'], '[[1, null], {"k": "2024-01-01"}]'],
  [['JSON', 'Dynamic'], '[{"a": {"b": 12345678901234567890}}, 5]'],
  [['Bool', 'UUID', 'IPv4', "DateTime64(3, 'UTC')"], '[true, "x", "y", "2024-01-01T00:00:00.000Z"]'],
  [['String', 'UInt64'], Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x2c, 0x31, 0x5d])],
  [['String', 'String'], '["\\"ab\\\\", "abcdefg\\\\\\"h"]'],
  [['String'], '["ünï\\u2028\\n😀"]'],
]

it.each(CASES)('gives the values that parsing gives, %s', (types, line) => {
  expect(encode(types, [line])).toEqual([parse(types, line)])
})

it('gives rows behind any names of columns (SQ-4)', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 4 }), (names) => {
      const { columns, types } = readColumns(
        names,
        names.map(() => 'UInt64'),
      )
      const { bytes } = createRowEncoder(
        columns,
        types,
      )(Buffer.from(`[${names.map((_, n) => n).join(', ')}]\n`))
      const expected = names.map((name, n) => `${JSON.stringify(name)}:${n}`).join(',')
      expect(bytes.toString()).toBe(Buffer.from(`{${expected}},\n`).toString())
    }),
  )
})

it('gives the values that parsing gives for any integers and texts, in any number of rows (SQ-4)', () => {
  const types = ['Int64', 'String', 'Int256', 'Array(String)']
  const row = fc.tuple(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.string({ unit: 'binary' }),
    fc.bigInt(),
    fc.array(fc.string({ unit: 'grapheme' })),
  )
  fc.assert(
    fc.property(fc.array(row), (rows) => {
      const lines = rows.map(
        ([long, text, wide, list]) => `[${long}, ${JSON.stringify(text)}, ${wide}, ${JSON.stringify(list)}]`,
      )
      expect(encode(types, lines)).toEqual(lines.map((line) => parse(types, line)))
    }),
  )
})
