/** Combines the values of any stretch `[first, end)` of an array. */
export type RangeAggregate = (first: number, end: number) => number

/**
 * Sums, minima or maxima of arbitrary stretches in O(log n): a tree of partial results. Differences of running sums
 * would be quicker and lose digits where large and small values meet.
 */
export function rangeAggregate(
  values: Float64Array,
  combine: (a: number, b: number) => number,
  neutral: number,
): RangeAggregate {
  const size = values.length
  const tree = new Float64Array(2 * size)
  tree.set(values, size)
  for (let node = size - 1; node > 0; node -= 1) {
    tree[node] = combine(tree[2 * node] ?? neutral, tree[2 * node + 1] ?? neutral)
  }
  return (first, end) => {
    let result = neutral
    for (let low = first + size, high = end + size; low < high; low >>= 1, high >>= 1) {
      if (low & 1) result = combine(result, tree[low++] ?? neutral)
      if (high & 1) result = combine(result, tree[--high] ?? neutral)
    }
    return result
  }
}
