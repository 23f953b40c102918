import { expect, it } from 'vitest'
import { bareType, parseColumnType, toWireType } from './column-type.ts'

it.each([
  ['String', 'STRING'],
  ['FixedString(32)', 'STRING'],
  ['LowCardinality(String)', 'STRING'],
  ['Nullable(String)', 'STRING'],
  ['UUID', 'STRING'],
  ['IPv4', 'STRING'],
  [`Enum8('a' = 1, 'b)' = 2)`, 'STRING'],
  ['Nothing', 'STRING'],
  ['UInt8', 'NUMBER'],
  ['Int256', 'NUMBER'],
  ['Float32', 'NUMBER'],
  ['BFloat16', 'NUMBER'],
  ['Decimal(76, 30)', 'NUMBER'],
  ['Nullable(Decimal(9, 2))', 'NUMBER'],
  ['SimpleAggregateFunction(sum, UInt64)', 'NUMBER'],
  ['IntervalDay', 'NUMBER'],
  ['Bool', 'BOOLEAN'],
  ['Date', 'TIME'],
  ['Date32', 'TIME'],
  ['DateTime', 'TIME'],
  [`DateTime('America/Los_Angeles')`, 'TIME'],
  [`LowCardinality(Nullable(DateTime64(6, 'UTC')))`, 'TIME'],
  ['Array(UInt8)', 'LIST'],
  ['Tuple(UInt8, String)', 'LIST'],
  ['Tuple(a UInt8, b String)', 'JSON'],
  ['Map(String, UInt64)', 'MAP'],
  ['JSON', 'JSON'],
  ['JSON(max_dynamic_paths=5, a UInt8)', 'JSON'],
  ['Dynamic', 'DYNAMIC'],
  ['Variant(String, UInt8)', 'DYNAMIC'],
])('calls %s %s (SQ-4)', (text, wireType) => {
  expect(toWireType(parseColumnType(text))).toBe(wireType)
})

it('takes nested types apart, names, quotes and parentheses included', () => {
  const type = parseColumnType(
    "Array(Tuple(a Nullable(Int64), `odd, (name` Enum8('x, )' = 1), c Map(LowCardinality(String), Array(UInt256))))",
  )
  const [tuple] = type.elements
  expect(tuple?.elementNames).toEqual(['a', 'odd, (name', 'c'])
  expect(tuple?.elements.map(({ name }) => name)).toEqual(['Nullable', 'Enum8', 'Map'])
  expect(tuple?.elements[2]?.elements[1]?.elements[0]?.name).toBe('UInt256')
})

it('looks through covers that change nothing about the values', () => {
  expect(bareType(parseColumnType('LowCardinality(Nullable(FixedString(3)))')).name).toBe('FixedString')
})
