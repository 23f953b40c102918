/** A rendered row and its time, which decides its partition. */
export interface TimedLine {
  readonly line: string
  readonly timestampMicros: number
}

/** The engine refuses an insert into more than 100 partitions, which are months. */
const MAX_MONTHS_PER_INSERT = 100
/** The shortest month. Lines within this time lie in two months at most. */
const MONTH_MICROS = 28 * 86_400 * 1_000_000

/** Parts of `lines`, in the same order, that each lie in few enough months for one insert. Nearly always that is one part. */
export function splitByPartitions(lines: readonly TimedLine[]): readonly (readonly TimedLine[])[] {
  if (lines.length === 0) return []
  const months = Map.groupBy(lines, ({ timestampMicros }) => Math.floor(timestampMicros / MONTH_MICROS))
  if (months.size <= MAX_MONTHS_PER_INSERT / 2) return [lines]
  const parts: TimedLine[][] = []
  const groups = [...months.values()]
  for (let i = 0; i < groups.length; i += MAX_MONTHS_PER_INSERT / 2) {
    parts.push(groups.slice(i, i + MAX_MONTHS_PER_INSERT / 2).flat())
  }
  return parts
}
