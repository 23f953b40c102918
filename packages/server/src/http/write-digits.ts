export const [MINUS, POINT, ZERO] = [0x2d, 0x2e, 0x30]

/** The four digits of each number below 10⁴, the first one in the lowest byte. */
const FOURS = Uint32Array.from({ length: 10_000 }, (_, four) =>
  Buffer.from(String(four).padStart(4, '0')).readUInt32LE(),
)

/** Writes exactly eight digits of a whole number below 10⁸. */
export function writeEight(view: DataView, at: number, value: number): void {
  const upper = ((value | 0) / 10_000) | 0
  view.setUint32(at, FOURS[upper] ?? 0, true)
  view.setUint32(at + 4, FOURS[(value | 0) - upper * 10_000] ?? 0, true)
}

/** Writes exactly `digits` digits of a whole number below 10⁹. */
export function writeDigits(bytes: Uint8Array, at: number, value: number, digits: number): void {
  let rest = value | 0
  for (let place = at + digits - 1; place >= at; place -= 1) {
    const tenth = (rest / 10) | 0
    bytes[place] = ZERO + rest - tenth * 10
    rest = tenth
  }
}

/** How many digits a whole number below 10⁹ has. */
export function countDigits(value: number): number {
  if (value < 10_000) return value < 100 ? (value < 10 ? 1 : 2) : value < 1000 ? 3 : 4
  if (value < 1_000_000) return value < 100_000 ? 5 : 6
  return value < 100_000_000 ? (value < 10_000_000 ? 7 : 8) : 9
}
