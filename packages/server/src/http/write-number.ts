/** Longest text of a finite number in JSON. */
export const NUMBER_BYTES_MAX = 25

const [MINUS, POINT, ZERO] = [0x2d, 0x2e, 0x30]
/** Decimals that are tried, as powers of ten: up to 15 digits in all name a number as no shorter text does. */
const SCALES = [1_000_000, 10_000, 100, 1] as const
const DECIMALS = [6, 4, 2, 0] as const
const DIGITS_MAX = 1e15
const CHUNK = 1e9

/** Texts of numbers that were written lately, by a part of their bits. */
const SLOTS = 2 ** 15
const slotNumbers = new Float64Array(SLOTS).fill(Number.NaN)
const slotLengths = new Uint8Array(SLOTS)
const slotTexts = new Uint8Array(SLOTS * NUMBER_BYTES_MAX)
const scratch = new Float64Array(1)
const bits = new Int32Array(scratch.buffer)

/**
 * Writes a finite number into `bytes` at `at` as `JSON.stringify` would, and tells where it ends. Several times as fast where numbers have
 * few decimals or come again.
 */
export function writeNumber(bytes: Uint8Array, at: number, value: number): number {
  let next = at
  let size = value
  if (value < 0) {
    bytes[next++] = MINUS
    size = -value
  }
  // The most decimals that leave 15 digits tell what fewer would.
  for (let index = 0; index < SCALES.length; index += 1) {
    const scale = SCALES[index] ?? 1
    const scaled = Math.round(size * scale)
    if (scaled >= DIGITS_MAX) continue
    if (scaled / scale !== size) break
    return writeDecimal(bytes, next, scaled, scale, DECIMALS[index] ?? 0)
  }
  return writeAny(bytes, at, value)
}

function writeDecimal(
  bytes: Uint8Array,
  at: number,
  scaled: number,
  scale: number,
  decimals: number,
): number {
  const whole = scale === 1 ? scaled : Math.floor(scaled / scale)
  const next = writeWhole(bytes, at, whole)
  let fraction = (scaled - whole * scale) | 0
  if (fraction === 0) return next
  let places = decimals
  for (let tenth = (fraction / 10) | 0; tenth * 10 === fraction; tenth = (fraction / 10) | 0) {
    fraction = tenth
    places -= 1
  }
  bytes[next] = POINT
  writeDigits(bytes, next + 1, fraction, places)
  return next + 1 + places
}

function writeWhole(bytes: Uint8Array, at: number, whole: number): number {
  if (whole < CHUNK) {
    const digits = countDigits(whole | 0)
    writeDigits(bytes, at, whole, digits)
    return at + digits
  }
  const high = Math.floor(whole / CHUNK)
  const next = writeWhole(bytes, at, high)
  writeDigits(bytes, next, whole - high * CHUNK, 9)
  return next + 9
}

/** Exactly `digits` digits of a number below 10⁹. */
function writeDigits(bytes: Uint8Array, at: number, value: number, digits: number): void {
  let rest = value | 0
  for (let place = at + digits - 1; place >= at; place -= 1) {
    const tenth = (rest / 10) | 0
    bytes[place] = ZERO + rest - tenth * 10
    rest = tenth
  }
}

function countDigits(value: number): number {
  let digits = 1
  for (let limit = 10; value >= limit && digits < 9; limit *= 10) digits += 1
  return digits
}

function writeAny(bytes: Uint8Array, at: number, value: number): number {
  scratch[0] = value
  const mixed = Math.imul((bits[0] ?? 0) ^ Math.imul(bits[1] ?? 0, 0x9e3779b1), 0x85ebca6b)
  const slot = (mixed ^ (mixed >>> 15)) & (SLOTS - 1)
  const start = slot * NUMBER_BYTES_MAX
  if (slotNumbers[slot] !== value) {
    const text = String(value)
    for (let i = 0; i < text.length; i += 1) slotTexts[start + i] = text.charCodeAt(i)
    slotNumbers[slot] = value
    slotLengths[slot] = text.length
  }
  const length = slotLengths[slot] ?? 0
  for (let i = 0; i < length; i += 1) bytes[at + i] = slotTexts[start + i] ?? ZERO
  return at + length
}
