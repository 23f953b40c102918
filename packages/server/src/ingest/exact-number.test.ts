import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  fitsDecimal,
  hasLongNumber,
  isBeyondExactIntegers,
  survivesAsFloat64,
  widthOfInteger,
} from './exact-number.ts'

describe('numbers that a Float64 cannot hold (IN-6)', () => {
  it.each([
    '0',
    '-0',
    '0.0',
    '1.10',
    '1e3',
    '-2.50E-3',
    '9007199254740991',
    '0.30000000000000004',
    '1e+21',
    '0.10000000000000001',
    '123456789012345680000',
  ])('takes %s', (literal) => {
    expect(survivesAsFloat64(literal)).toBe(true)
  })

  it.each([
    '9007199254740993',
    '1e400',
    '1e-400',
    '0.123456789012345678',
    '123456789012345678901234567890',
    '900719925474099301e-2',
  ])('refuses %s', (literal) => {
    expect(survivesAsFloat64(literal)).toBe(false)
  })

  it('takes every number that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(survivesAsFloat64(JSON.stringify(value))).toBe(true)
      }),
    )
  })

  it('suspects every number that does not survive', () => {
    const literal = fc
      .tuple(
        fc.stringMatching(/^[1-9][0-9]{0,24}$/),
        fc.stringMatching(/^(\.[0-9]{1,24})?$/),
        fc.integer({ min: -9, max: 9 }),
      )
      .map(([whole, fraction, exponent]) => `${whole}${fraction}${exponent === 0 ? '' : `e${exponent}`}`)
    fc.assert(
      fc.property(literal, (text) => {
        const isSuspected = hasLongNumber(text) || isBeyondExactIntegers(Number(text))
        expect(isSuspected || survivesAsFloat64(text)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it('knows the bounds of Int256, UInt256 and Decimal(76, 30)', () => {
    expect(widthOfInteger(String(2n ** 255n - 1n))).toBe('int')
    expect(widthOfInteger(String(-(2n ** 255n)))).toBe('int')
    expect(widthOfInteger(String(2n ** 255n))).toBe('uint')
    expect(widthOfInteger(String(2n ** 256n - 1n))).toBe('uint')
    expect(widthOfInteger(String(2n ** 256n))).toBeNull()
    expect(widthOfInteger(String(-(2n ** 255n) - 1n))).toBeNull()
    expect(fitsDecimal(`-${'9'.repeat(46)}.${'9'.repeat(30)}`)).toBe(true)
    expect(fitsDecimal('9'.repeat(47))).toBe(false)
    expect(fitsDecimal(`0.${'1'.repeat(31)}`)).toBe(false)
    expect(fitsDecimal('1e3')).toBe(false)
  })
})
