import { expect, it } from 'vitest'
import { bindParameters } from './parameters.ts'

it.each([
  ['UInt8', 256, 'from 0 to 255'],
  ['UInt64', -1, 'from 0 to 18446744073709551615'],
  ['Int16', '-32769', 'from -32768 to 32767'],
  ['UInt256', `1${'0'.repeat(78)}`, 'from 0 to 1157'],
  ['Array(UInt8)', [1, 256], 'from 0 to 255'],
  ['Array(Array(Nullable(Int8)))', [[1, null], [-129]], 'from -128 to 127'],
])('refuses a number that its placeholder would lose a part of: %s of %s (SQ-6)', (type, n, range) => {
  const bind = (): unknown => bindParameters(`select { n : ${type} }`, { n })
  expect(bind).toThrow(`sqlQuery.parameters.n must be ${range}`)
})

it.each([
  ['UInt8', 255],
  ['Int64', '-9223372036854775808'],
  ['UInt256', (2n ** 256n - 1n).toString()],
  ['UInt8', 'x'],
  ['Float64', 1e30],
])('leaves the others to the engine: %s of %s (SQ-6)', (type, n) => {
  const sql = `select {n:${type}}, '{n:UInt8}' -- {m:UInt8}`
  expect(bindParameters(sql, { n, m: 1000 })).toMatchObject({ sql, parameters: { n, m: 1000 } })
})

it('reads the values of both spellings (SQ-6)', () => {
  const text = 'select ${a}, {n:UInt8}'
  expect(bindParameters(text, { fields: { a: { stringValue: 'x' }, n: { intValue: 7 } } })).toMatchObject({
    sql: 'select {a:String}, {n:UInt8}',
    parameters: { a: 'x', n: 7 },
  })
  expect(() => bindParameters(text, { fields: { a: { nullValue: 0 }, n: { intValue: '-1' } } })).toThrow(
    'from 0 to 255',
  )
})

it.each([
  ['{t:DateTime}', '1767225600'],
  ["{ t : DateTime64(6, 'UTC') }, {t:Nullable(DateTime64(3))}", '1767225600'],
  ['{t:DateTime64(3)}, {t:String}', '2026-01-01T00:00:00.000Z'],
  ['{t:DateTime64(3)}, ${t}', '2026-01-01T00:00:00.000Z'],
  ['{t:String}', '2026-01-01T00:00:00.000Z'],
])('reads a time as answers write it where it is nothing but a time: %s (SQ-6)', (columns, bound) => {
  const t = '2026-01-01T00:00:00.000Z'
  expect(bindParameters(`select ${columns}`, { t }).parameters).toEqual({ t: bound })
})
