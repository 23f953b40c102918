/**
 * What each of several shares may hold so that together they fit `room`: shares below the level keep all, those above are cut to it.
 * Infinity when nothing has to be cut.
 */
export function fairLevel(shares: readonly number[], room: number): number {
  let left = room
  const ascending = shares.toSorted((a, b) => a - b)
  for (const [index, share] of ascending.entries()) {
    const level = left / (ascending.length - index)
    if (share > level) return Math.floor(level)
    left -= share
  }
  return Infinity
}
