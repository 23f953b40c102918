/** The value that a share of all does not exceed; NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).toSorted()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}
