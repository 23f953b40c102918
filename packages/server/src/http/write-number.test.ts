import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NUMBER_ROOM, writeNumber } from './write-number.ts'

function written(value: number): string {
  const bytes = Buffer.alloc(NUMBER_ROOM + 1)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return bytes.toString('latin1', 1, writeNumber(bytes, view, 1, value))
}

describe('a number that is written', () => {
  it.each([
    0,
    -0,
    1,
    -1,
    10,
    0.1,
    -0.5,
    0.05,
    0.000001,
    0.0000001,
    1e-7,
    123.45,
    -123.45,
    1e9,
    999_999_999,
    1e15,
    1e21,
    1e22,
    123_456_789_012.34,
    4_294_967_296.5,
    0.1 + 0.2,
    1 / 3,
    5e-324,
    1.7976931348623157e308,
    2 ** 53 + 2,
    100.5,
    2.675,
    1e14 + 0.25,
  ])('%d is what JSON has', (value) => {
    expect(written(value)).toBe(JSON.stringify(value))
  })

  it('is what JSON has, whatever its bits', () => {
    const decimal = fc
      .tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: 0, max: 9 }))
      .map(([digits, places]) => digits / 10 ** places)
    const any = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      decimal,
      fc.maxSafeInteger(),
      fc.maxSafeInteger().map((digits) => digits / 1e6),
    )
    fc.assert(
      fc.property(any, (value) => {
        expect(written(value)).toBe(JSON.stringify(value))
        // The second time it may come from memory.
        expect(written(value)).toBe(JSON.stringify(value))
      }),
      { numRuns: 5000 },
    )
  })
})
