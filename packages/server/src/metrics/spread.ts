import type { RangeAggregate } from './range-aggregate.ts'

/**
 * The sum of the squared distances from the mean, of any stretch `[first, end)` of cells of which count, sum and the
 * same of each are known: a tree of partial results, merged as Chan, Golub and LeVeque do (1979), which keeps its
 * digits where the mean is large.
 */
export function squaresOf(counts: Float64Array, sums: Float64Array, squares: Float64Array): RangeAggregate {
  const size = counts.length
  const [n, mean, spread] = [
    new Float64Array(2 * size),
    new Float64Array(2 * size),
    new Float64Array(2 * size),
  ]
  for (let cell = 0; cell < size; cell += 1) {
    const count = counts[cell] ?? 0
    n[size + cell] = count
    if (count === 0) continue
    mean[size + cell] = (sums[cell] ?? 0) / count
    spread[size + cell] = squares[cell] ?? 0
  }
  const total = { n: 0, mean: 0, spread: 0 }
  const add = (node: number): void => {
    const count = n[node] ?? 0
    if (count === 0) return
    const distance = (mean[node] ?? 0) - total.mean
    const all = total.n + count
    total.mean += (distance * count) / all
    total.spread += (spread[node] ?? 0) + (distance * distance * total.n * count) / all
    total.n = all
  }
  const restart = (): void => {
    total.n = 0
    total.mean = 0
    total.spread = 0
  }
  for (let node = size - 1; node > 0; node -= 1) {
    restart()
    add(2 * node)
    add(2 * node + 1)
    n[node] = total.n
    mean[node] = total.mean
    spread[node] = total.spread
  }
  return (first, end) => {
    restart()
    for (let low = first + size, high = end + size; low < high; low >>= 1, high >>= 1) {
      if (low & 1) add(low++)
      if (high & 1) add(--high)
    }
    return total.spread
  }
}
