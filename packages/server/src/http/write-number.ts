import { countDigits, MINUS, POINT, writeDigits } from './write-digits.ts'
import { writeShortest } from './write-shortest.ts'

/** Room that `writeNumber` needs behind where it begins; no text of a finite number in JSON is longer than 25 bytes. */
export const NUMBER_ROOM = 40

/** Decimals that are tried, as powers of ten: up to 15 digits in all name a number as no shorter text does. */
const SCALES = [1_000_000, 10_000, 100, 1] as const
const DECIMALS = [6, 4, 2, 0] as const
const DIGITS_MAX = 1e15
const CHUNK = 1e9

/**
 * Writes a finite number into `bytes` at `at` as `JSON.stringify` would, and tells where it ends; what stood in the `NUMBER_ROOM` behind may be
 * lost. `view` is of the same bytes. Several times as fast.
 */
export function writeNumber(bytes: Uint8Array, view: DataView, at: number, value: number): number {
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
  const end = writeShortest(bytes, view, next, size)
  return end === -1 ? writeText(bytes, at, String(value)) : end
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
  // Most have two decimals at most.
  const hundredths = (fraction / 10_000) | 0
  if (places === 6 && hundredths * 10_000 === fraction) {
    fraction = hundredths
    places = 2
  }
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

function writeText(bytes: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i += 1) bytes[at + i] = text.charCodeAt(i)
  return at + text.length
}
