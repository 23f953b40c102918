import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createExactSum, moveParts, SUM_PARTS } from './exact-sum.ts'

/** A double as a whole number of the smallest there is. */
function units(value: number): bigint {
  const bits = new BigUint64Array(Float64Array.of(value).buffer)[0] ?? 0n
  const exponent = (bits >> 52n) & 2047n
  const digits = (bits & (2n ** 52n - 1n)) | (exponent === 0n ? 0n : 2n ** 52n)
  const size = digits << (exponent === 0n ? 0n : exponent - 1n)
  return bits >> 63n === 1n ? -size : size
}

const numbers = fc.array(
  fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e300, max: 1e300 }),
    fc.integer().map((n) => n / 7),
    // Half-way between doubles, and what decides there.
    fc.constantFrom(2 ** 53, 1, -1, 2 ** -60, -(2 ** -60), 2 ** -120, 0.5),
  ),
  { maxLength: 30 },
)

it('a sum is the double nearest to what was added, whatever the order', () => {
  fc.assert(
    fc.property(numbers, (given) => {
      const sum = createExactSum()
      for (const each of given) sum.add(each)
      const exact = given.reduce((total, each) => total + units(each), 0n)
      const distance = (value: number) => {
        const off = units(value) - exact
        return off < 0n ? -off : off
      }
      const value = sum.value()
      const bits = Float64Array.of(Math.abs(value))
      const neighbours = [1n, -1n].map((step) => {
        const moved = Float64Array.from(bits)
        const whole = new BigInt64Array(moved.buffer)
        whole[0] = (whole[0] ?? 0n) + step
        return Math.sign(value || 1) * (moved[0] ?? 0)
      })
      for (const other of neighbours) {
        if (Number.isFinite(other)) expect(distance(value) <= distance(other)).toBe(true)
      }
      const reversed = createExactSum()
      for (const each of given.toReversed()) reversed.add(each)
      expect(reversed.value() + 0).toBe(value + 0)
    }),
  )
})

it('its parts add up to it again, as long as they hold it', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -(2 ** 31), max: 2 ** 31 }).map((n) => n / 997)), (given) => {
      const sum = createExactSum()
      for (const each of given) sum.add(each)
      const value = sum.value()
      const parts = new Float64Array(SUM_PARTS)
      moveParts(sum, parts, 0)
      expect(sum.value()).toBe(0)
      expect(parts[0]).toBe(value)
      for (const part of parts.toReversed()) sum.add(part)
      expect(sum.value() + 0).toBe(value + 0)
      for (const each of given) sum.add(-each)
      expect(sum.value() + 0).toBe(0)
    }),
  )
})

it('what leaves the range of doubles is infinite or no number, and nothing follows from it for the next sum', () => {
  const sum = createExactSum()
  for (const each of [1e308, 1e308, 1]) sum.add(each)
  expect(sum.value()).toBe(Infinity)
  sum.clear()
  sum.add(0.1)
  expect(sum.value()).toBe(0.1)
})
