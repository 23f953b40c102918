import { POINT, writeEight, ZERO } from './write-digits.ts'

/** Powers of ten that are doubles. */
const POWERS = Float64Array.from({ length: 23 }, (_, power) => 10 ** power)
/** Each power as the sum of two numbers of 26 bits, whose products with such numbers are exact (Veltkamp). */
const SPLIT = 2 ** 27 + 1
const POWERS_HIGH = POWERS.map((power) => SPLIT * power - (SPLIT * power - power))
const POWERS_LOW = POWERS.map((power, index) => power - (POWERS_HIGH[index] ?? 0))
const SMALLEST = 1e-6
const LARGEST = 1e15
const LOG10_OF_2 = Math.LOG10E * Math.LN2
/** Digits that name every double, and how many of them the lower half has. */
const [DIGITS, LOWER_DIGITS] = [17, 8]
const LOWER = 1e8
/** Closer calls than this, in units of the 17th digit, are left to others; what is computed here is exact to a hundredth of it. */
const MARGIN = 1e-6

const scratch = new Float64Array(1)
const halves = new Uint32Array(scratch.buffer)
const halfUlp = new Float64Array(1)
const halfUlpHalves = new Uint32Array(halfUlp.buffer)

/**
 * Writes the shortest decimal that names a number between 10⁻⁶ and 10¹⁵, the one nearest to it if there are several, as JavaScript does;
 * tells where it ends, or -1 where the number is for others to write: a whole one, one of few digits or of a close call. `bytes` and `view` are of the same memory, of which up to 33 bytes are used.
 *
 * The number times a power of ten, exact as the sum of two doubles, has 17 digits before its point. Any decimal nearer than half the distance
 * of neighbouring doubles names it: digits are rounded off as long as one is.
 */
export function writeShortest(bytes: Uint8Array, view: DataView, at: number, value: number): number {
  if (!(value >= SMALLEST && value < LARGEST)) return -1
  scratch[0] = value
  const high = halves[1] ?? 0
  // Below a power of two the neighbour is nearer.
  if ((high & 0xfffff) === 0 && halves[0] === 0) return -1
  const exponent = (high >>> 20) - 1023
  let magnitude = Math.floor(exponent * LOG10_OF_2)
  // The next power of ten; below one its reciprocal is not exact, the quotient is near enough to tell.
  if (magnitude >= -1 ? value >= (POWERS[magnitude + 1] ?? 0) : value * (POWERS[-magnitude - 1] ?? 0) >= 1) {
    magnitude += 1
  }
  const power = DIGITS - 1 - magnitude
  const scale = POWERS[power] ?? 0
  const product = value * scale
  const spread = SPLIT * value
  const valueHigh = spread - (spread - value)
  const valueLow = value - valueHigh
  const scaleHigh = POWERS_HIGH[power] ?? 0
  const scaleLow = POWERS_LOW[power] ?? 0
  const lost =
    valueLow * scaleLow - (product - valueHigh * scaleHigh - valueLow * scaleHigh - valueHigh * scaleLow)
  const upper = Math.floor(product / LOWER)
  const lower = product - upper * LOWER + lost
  halfUlpHalves[1] = (exponent - 53 + 1023) << 20
  const reach = (halfUlp[0] ?? 0) * scale

  let rounded = Math.floor(lower + 0.5)
  let distance = Math.abs(rounded - lower)
  if (isNear(distance, 0.5)) return -1
  let dropped = 0
  for (let unit = 10; dropped < LOWER_DIGITS; unit *= 10) {
    const candidate = Math.floor(lower / unit + 0.5) * unit
    distance = Math.abs(candidate - lower)
    if (distance > reach + MARGIN) break
    if (distance > reach - MARGIN || isNear(distance, unit / 2)) return -1
    rounded = candidate
    dropped += 1
  }
  if (dropped === LOWER_DIGITS || rounded < 0 || rounded >= LOWER) return -1
  return writePlaced(bytes, view, at, upper, rounded, magnitude, DIGITS - dropped)
}

function isNear(distance: number, limit: number): boolean {
  return Math.abs(distance - limit) < MARGIN
}

/** Writes the first `digits` of 17 with the point behind the place of `magnitude`. */
function writePlaced(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  upper: number,
  lower: number,
  magnitude: number,
  digits: number,
): number {
  let start = at
  if (magnitude < 0) {
    start = at + 1 - magnitude
    for (let place = at; place < start; place += 1) bytes[place] = ZERO
    bytes[at + 1] = POINT
  }
  const first = (upper / LOWER) | 0
  bytes[start] = ZERO + first
  writeEight(view, start + 1, upper - first * LOWER)
  writeEight(view, start + 1 + LOWER_DIGITS, lower)
  if (magnitude < 0) return start + digits
  // Makes room for the point, by words; what they hold is no text of a NaN, which might not be kept.
  const point = at + magnitude + 1
  const behind = view.getFloat64(point, true)
  const rest = view.getFloat64(point + 8, true)
  view.setFloat64(point + 1, behind, true)
  view.setFloat64(point + 9, rest, true)
  bytes[point] = POINT
  return start + digits + 1
}
