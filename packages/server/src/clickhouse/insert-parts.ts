/** Chooses the rows of one insert by their time. */
export type InsertPart = (timestampMicros: number) => boolean

/** The engine refuses an insert into more than 100 partitions, which are months; a stretch of 28 days touches two at most. */
const MAX_STRETCHES = 50
const STRETCH_MICROS = 28 * 86_400 * 1_000_000

/** Do rows between two times fit one insert? */
export function fitsOneInsert(earliestMicros: number, latestMicros: number): boolean {
  return stretchOf(latestMicros) - stretchOf(earliestMicros) < MAX_STRETCHES
}

/** The inserts that rows of these times need, so that each reaches into few enough months. Nearly always that is one. */
export function insertParts(timesMicros: Iterable<number>): readonly InsertPart[] {
  const stretches = new Set<number>()
  let last = Number.NaN
  for (const micros of timesMicros) {
    const stretch = stretchOf(micros)
    if (stretch !== last) stretches.add(stretch)
    last = stretch
  }
  if (stretches.size <= MAX_STRETCHES) return [() => true]
  const sorted = [...stretches].toSorted((a, b) => a - b)
  const parts: InsertPart[] = []
  for (let start = 0; start < sorted.length; start += MAX_STRETCHES) {
    const own = new Set(sorted.slice(start, start + MAX_STRETCHES))
    parts.push((micros) => own.has(stretchOf(micros)))
  }
  return parts
}

function stretchOf(micros: number): number {
  return Math.floor(micros / STRETCH_MICROS)
}
