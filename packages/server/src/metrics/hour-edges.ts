/** Hours are what sources know without looking at samples. */
export const HOUR_MICROS = 3_600_000_000

/** Does a cell that begins or ends here consist of whole hours? It may count the sample on the full hour to either side. */
export function isHourEdge(micros: number): boolean {
  const beyond = micros - Math.floor(micros / HOUR_MICROS) * HOUR_MICROS
  return beyond === 0 || beyond === 1
}

/**
 * Adds the full hours around edges that lie within one, so that all other hours need no samples; only where that spares
 * most of them. Ascending like `edges`.
 */
export function withHourEdges(edges: Float64Array): Float64Array {
  const [first, last] = [edges[0], edges.at(-1)]
  if (first === undefined || last === undefined) return edges
  const inside = new Set<number>()
  for (const edge of edges) if (!isHourEdge(edge)) inside.add(Math.floor(edge / HOUR_MICROS))
  if (inside.size === 0) return edges
  const isWorthwhile = inside.size * 4 <= (last - first) / HOUR_MICROS || edges.length === 1
  const added = isWorthwhile
    ? [...inside].flatMap((hour) => [hour * HOUR_MICROS, (hour + 1) * HOUR_MICROS])
    : [Math.floor(first / HOUR_MICROS) * HOUR_MICROS]
  // What lies before the first edge is always read as hours.
  return Float64Array.from(new Set([...edges, ...added.filter((edge) => edge < last)])).toSorted()
}
