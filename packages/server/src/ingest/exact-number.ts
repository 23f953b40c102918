/** The bounds of a 256-bit signed integer, ClickHouse's Int256. */
const INT256_MAX = 2n ** 255n - 1n
const INT256_MIN = -(2n ** 255n)

/**
 * Whether a JSON number means the same after it was stored as a Float64. It does when the shortest text of the Float64
 * has the same digits (so whatever `JSON.stringify` writes passes), or when it is a fraction of at most 17 digits, which is how
 * other languages write a Float64. Integers beyond 2^53 such as 9007199254740993 and long fractions do not.
 */
export function survivesAsFloat64(literal: string): boolean {
  const value = Number(literal)
  if (!Number.isFinite(value)) return false
  const written = toDigits(literal)
  const stored = toDigits(String(value))
  if (written.digits === stored.digits && written.exponent === stored.exponent) return true
  return written.exponent < 0 && written.digits.length <= 17 && value !== 0
}

/** Could this number, already parsed, differ from what was written, given that its text has at most 17 digits? */
export function isBeyondExactIntegers(value: number): boolean {
  return value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER
}

/**
 * A text may hold a number of 18 or more digits. Fewer are no cause for suspicion: a fraction of 17 is a Float64 written out, and integers
 * that long are told by their value.
 */
export function hasLongNumber(text: string): boolean {
  return /[0-9.]{19}/.test(text)
}

/** Does a text of decimal digits, optionally signed, fit a 256-bit signed integer? */
export function fitsInt256(digits: string): boolean {
  if (digits.length < 77) return true
  const value = BigInt(digits)
  return value <= INT256_MAX && value >= INT256_MIN
}

/** Does a plain decimal fit Decimal(76, 30): 46 digits before and 30 after the point? */
export function fitsDecimal(text: string): boolean {
  return /^-?0*[0-9]{1,46}(\.[0-9]{1,30}0*)?$/.test(text)
}

/** The significant digits without zeros at either end, and the power of ten of the last of them. */
function toDigits(literal: string): { digits: string; exponent: number } {
  const match = /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(literal)
  const fraction = match?.[2] ?? ''
  const all = `${match?.[1] ?? ''}${fraction}`.replace(/^0+/, '')
  const digits = all.replace(/0+$/, '')
  if (digits === '') return { digits: '', exponent: 0 }
  return { digits, exponent: Number(match?.[3] ?? 0) - fraction.length + all.length - digits.length }
}
