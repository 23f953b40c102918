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
  const inside: number[] = []
  for (let i = 0; i < edges.length; i += 1) {
    const edge = edges[i] ?? 0
    if (isHourEdge(edge)) continue
    const hour = Math.floor(edge / HOUR_MICROS)
    if (hour !== inside.at(-1)) inside.push(hour)
  }
  if (inside.length === 0) return edges
  const isWorthwhile = inside.length * 4 <= (last - first) / HOUR_MICROS || edges.length === 1
  const added = isWorthwhile
    ? inside.flatMap((hour) => [hour * HOUR_MICROS, (hour + 1) * HOUR_MICROS])
    : [Math.floor(first / HOUR_MICROS) * HOUR_MICROS]
  // What lies before the first edge is always read as hours.
  return unionOf(
    edges,
    added.filter((edge) => edge < last),
  )
}

/** Ascending like both, each once. */
function unionOf(edges: Float64Array, added: readonly number[]): Float64Array {
  const union = new Float64Array(edges.length + added.length)
  let length = 0
  for (let i = 0, j = 0; i < edges.length || j < added.length;) {
    const next = Math.min(edges[i] ?? Infinity, added[j] ?? Infinity)
    if (edges[i] === next) i += 1
    while (added[j] === next) j += 1
    union[length] = next
    length += 1
  }
  return union.slice(0, length)
}
