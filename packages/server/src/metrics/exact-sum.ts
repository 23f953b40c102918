/** How many doubles an exact sum is handed over in at most: its value, and what rounding took from it, largest first. */
export const SUM_PARTS = 4

/** Adds up doubles without rounding, in any order, and rounds once. */
export interface ExactSum {
  add(value: number): void
  /** The double nearest to the sum; 0 where nothing was added. */
  value(): number
  /** Takes everything back. */
  clear(): void
}

/**
 * An empty sum. It keeps doubles that do not overlap (Shewchuk, Adaptive Precision Floating-Point Arithmetic, 1997), so that no bit is lost; what
 * leaves the range of doubles becomes infinite or no number.
 */
export function createExactSum(): ExactSum {
  /** By ascending size. */
  let parts: number[] = []
  return {
    add(value) {
      let rest = value
      let kept = 0
      for (let i = 0; i < parts.length; i += 1) {
        const part = parts[i] ?? 0
        const both = rest + part
        if (!Number.isFinite(both)) {
          parts = [both]
          return
        }
        const lost = lostIn(rest, part, both)
        if (lost !== 0) {
          parts[kept] = lost
          kept += 1
        }
        rest = both
      }
      parts.length = kept
      parts.push(rest)
    },

    value() {
      let last = parts.length - 1
      let sum = parts[last] ?? 0
      let lost = 0
      while (last > 0 && lost === 0) {
        last -= 1
        const part = parts[last] ?? 0
        const both = sum + part
        lost = lostIn(sum, part, both)
        sum = both
      }
      // Half-way between two doubles, the parts behind decide.
      const next = parts[last - 1] ?? 0
      if (lost !== 0 && Math.sign(lost) === Math.sign(next)) {
        const twice = 2 * lost
        const up = sum + twice
        if (up - sum === twice) return up
      }
      return sum
    },

    clear() {
      parts.length = 0
    },
  }
}

/** Moves a sum into `target` as `SUM_PARTS` doubles: the nearest one, that of the rest, and so on. */
export function moveParts(sum: ExactSum, target: Float64Array, at: number): void {
  for (let i = 0; i < SUM_PARTS; i += 1) {
    const part = sum.value()
    target[at + i] = part
    if (!Number.isFinite(part)) sum.clear()
    else if (part !== 0) sum.add(-part)
  }
  sum.clear()
}

/** What rounding took from `a + b`, exactly. */
export function lostIn(a: number, b: number, sum: number): number {
  return Math.abs(a) >= Math.abs(b) ? a - sum + b : b - sum + a
}
