const NAMES_MAX = 3

/** The names that differ least from this one, in at most a third of its letters and at most `lettersMax`; the most alike first. */
export function nearestNames(
  name: string,
  known: readonly string[],
  lettersMax = Infinity,
): readonly string[] {
  const wanted = name.toLowerCase()
  const distanceMax = Math.min(lettersMax, Math.max(1, Math.floor(wanted.length / 3)))
  return known
    .filter((each) => Math.abs(each.length - wanted.length) <= distanceMax)
    .map((each) => ({ each, distance: distanceBetween(wanted, each.toLowerCase()) }))
    .filter(({ distance }) => distance <= distanceMax)
    .toSorted((a, b) => a.distance - b.distance || (a.each < b.each ? -1 : 1))
    .slice(0, NAMES_MAX)
    .map(({ each }) => each)
}

/** What the nearest names add to a message, as the engine says it; nothing where there are none. */
export function maybeMeant(names: readonly string[]): string {
  return names.length === 0 ? '' : `. Maybe you meant: [${names.map((each) => `'${each}'`).join(', ')}]`
}

/** Letters to put in, take out, change or swap with the next to make one of the other (optimal string alignment). */
function distanceBetween(a: string, b: string): number {
  let before: readonly number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, n) => n)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity
      next.push(Math.min(changed, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[b.length] ?? 0
}
