/** The bounds of 256-bit integers, ClickHouse's Int256 and UInt256. */
const INT256_MAX = 2n ** 255n - 1n
const INT256_MIN = -(2n ** 255n)
const UINT256_MAX = 2n ** 256n - 1n

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

/** Which 256-bit integer a text of decimal digits, optionally signed, fits: `int` with sign, else `uint` without; null is none. */
export function widthOfInteger(digits: string): 'int' | 'uint' | null {
  if (digits.length < 77) return 'int'
  const value = BigInt(digits)
  if (value <= INT256_MAX && value >= INT256_MIN) return 'int'
  return value > INT256_MAX && value <= UINT256_MAX ? 'uint' : null
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
