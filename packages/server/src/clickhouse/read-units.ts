import { createExactSum, moveParts, SUM_PARTS } from '../metrics/exact-sum.ts'
import { UNITS } from './fixed-point.ts'

/** How many numbers of 256 bits are a whole sum, the near ones' and those of each window of the others. */
export const SUM_WINDOWS = UNITS.length
/** The words of 32 bits of a number of 256. */
export const UNIT_WORDS = 8

/** What the lowest bit of each word counts. No sum within the range of doubles has bits where that is infinite. */
const SCALES = UNITS.map((unit) =>
  Float64Array.from({ length: UNIT_WORDS }, (_, word) => unit * 2 ** (32 * word)),
)
const NEAR_SCALES = SCALES[0] ?? new Float64Array(UNIT_WORDS)
const digits = new Float64Array(UNIT_WORDS)
const sum = createExactSum()

/**
 * Reads the sum of near numbers from its words, the lowest first, and puts its parts into `target`. Where there are others, it is not read: that is told
 * by false.
 */
export function readNearSum(words: Int32Array, first: number, target: Float64Array, at: number): boolean {
  const top = words[first + UNIT_WORDS - 1] ?? 0
  if (ownTop(top) !== top) return false
  const sign = readDigits(words, first, top)
  let highest = UNIT_WORDS - 1
  while (highest > 0 && digits[highest] === 0) highest -= 1
  let lowest = 0
  while (lowest < highest && digits[lowest] === 0) lowest += 1
  if (highest - lowest > 2) {
    addDigits(sign, NEAR_SCALES)
    moveParts(sum, target, at)
    return true
  }
  // Two doubles hold three words.
  const a = sign * (digits[highest] ?? 0) * (NEAR_SCALES[highest] ?? 0)
  const b = sign * (digits[highest - 1] ?? 0) * (NEAR_SCALES[highest - 1] ?? 0)
  const c = sign * (digits[highest - 2] ?? 0) * (NEAR_SCALES[highest - 2] ?? 0)
  const both = a + b
  const rest = b - (both - a) + c
  const nearest = both + rest
  target[at] = nearest
  target[at + 1] = rest - (nearest - both)
  for (let part = 2; part < SUM_PARTS; part += 1) target[at + part] = 0
  return true
}

/** Reads a whole sum, `SUM_WINDOWS` numbers one behind the other. */
export function readWholeSum(words: Int32Array, first: number, target: Float64Array, at: number): void {
  for (const [index, scales] of SCALES.entries()) {
    const from = first + index * UNIT_WORDS
    const top = words[from + UNIT_WORDS - 1] ?? 0
    addDigits(readDigits(words, from, index === 0 ? ownTop(top) : top), scales)
  }
  moveParts(sum, target, at)
}

/** The highest word of the sum of near numbers holds its bits from 224 on; those from 232 on count the others. */
function ownTop(top: number): number {
  return ((top + 0x80) & 0xff) - 0x80
}

/** Puts the size of a number into `digits` and tells its sign. */
function readDigits(words: Int32Array, first: number, top: number): 1 | -1 {
  const isNegative = top < 0
  let carry = isNegative ? 1 : 0
  for (let i = 0; i < UNIT_WORDS; i += 1) {
    const word = i === UNIT_WORDS - 1 ? top : (words[first + i] ?? 0)
    let digit = word >>> 0
    if (isNegative) {
      digit = (~word >>> 0) + carry
      carry = digit === 2 ** 32 ? 1 : 0
      if (carry === 1) digit = 0
    }
    digits[i] = digit
  }
  return isNegative ? -1 : 1
}

function addDigits(sign: 1 | -1, scales: Float64Array): void {
  for (const [word, digit] of digits.entries()) {
    if (digit !== 0) sum.add(sign * digit * (scales[word] ?? 0))
  }
}
