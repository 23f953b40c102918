import { lostIn } from './exact-sum.ts'

/** Combines the values of a stretch `[first, end)` of an array. */
export type RangeAggregate = (first: number, end: number) => number

/**
 * Sums of stretches of at most `longest` values in constant time, as van Herk, Gil and Werman do for extremes: the array is cut into blocks of that
 * length, so that a stretch is the end of one block and the beginning of the next. A stretch that lies within a block is walked. Each is compensated
 * (Neumaier): differences of running sums would lose digits where large and small values meet.
 */
export function rangeSum(values: Float64Array, longest: number): RangeAggregate {
  const block = Math.max(longest, 1)
  const [startSums, startLost] = [new Float64Array(values.length), new Float64Array(values.length)]
  const [endSums, endLost] = [new Float64Array(values.length), new Float64Array(values.length)]
  let [sum, lost] = [0, 0]
  for (let i = 0; i < values.length; i += 1) {
    if (i % block === 0) [sum, lost] = [0, 0]
    const value = values[i] ?? 0
    const next = sum + value
    lost += lostIn(sum, value, next)
    sum = next
    startSums[i] = sum
    startLost[i] = lost
  }
  for (let i = values.length - 1; i >= 0; i -= 1) {
    if ((i + 1) % block === 0 || i === values.length - 1) [sum, lost] = [0, 0]
    const value = values[i] ?? 0
    const next = sum + value
    lost += lostIn(sum, value, next)
    sum = next
    endSums[i] = sum
    endLost[i] = lost
  }
  return (first, end) => {
    if (first >= end) return 0
    const last = end - 1
    if (first % block === 0 && end - first <= block) return (startSums[last] ?? 0) + (startLost[last] ?? 0)
    if (Math.floor(first / block) + 1 === Math.floor(last / block)) {
      const [a, b] = [endSums[first] ?? 0, startSums[last] ?? 0]
      return a + b + (lostIn(a, b, a + b) + (endLost[first] ?? 0) + (startLost[last] ?? 0))
    }
    let [walked, lostWalking] = [0, 0]
    for (let i = first; i < end; i += 1) {
      const value = values[i] ?? 0
      const next = walked + value
      lostWalking += lostIn(walked, value, next)
      walked = next
    }
    return walked + lostWalking
  }
}
