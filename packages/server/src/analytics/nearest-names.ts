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

/** Letters to put in, take out or change to make one of the other (Levenshtein). */
function distanceBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
