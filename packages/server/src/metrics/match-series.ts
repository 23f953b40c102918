import { invalidArgument } from '../platform/errors.ts'
import type { GridSeries } from './grid-series.ts'
import type { Labels } from './labels.ts'
import { labelKey, pickLabels } from './labels.ts'

/** Two series that belong together in an operation; null where one side has no partner (FO-3 decides what that means). */
export interface SeriesPair {
  readonly labels: Labels
  readonly left: GridSeries | null
  readonly right: GridSeries | null
}

/**
 * Pairs the series of two sides (FO-2): by equal labels; many to one where one side's label names are a subset of the
 * other's, which then gives the labels; any with any where a side has no labels. Throws `invalid_argument` naming the labels
 * that stand in the way otherwise.
 */
export function matchSeries(left: readonly GridSeries[], right: readonly GridSeries[]): SeriesPair[] {
  const [leftNames, rightNames] = [labelNames(left), labelNames(right)]
  const leftOnly = leftNames.filter((name) => !rightNames.includes(name))
  const rightOnly = rightNames.filter((name) => !leftNames.includes(name))
  if (leftOnly.length > 0 && rightOnly.length > 0) {
    throw invalidArgument(
      `the series cannot be matched: only the left side has ${leftOnly.join(', ')}, only the right side has ${rightOnly.join(', ')}; aggregate them to the same labels`,
    )
  }
  if (rightOnly.length === 0) return pairUp(left, right, rightNames)
  return pairUp(right, left, leftNames).map(({ labels, left, right }) => ({
    labels,
    left: right,
    right: left,
  }))
}

/** Pairs each of `many` with the one that has the same values of `names`, then lists those of `one` that no-one matched. */
function pairUp(
  many: readonly GridSeries[],
  one: readonly GridSeries[],
  names: readonly string[],
): SeriesPair[] {
  const byKey = new Map(one.map((series) => [labelKey(pickLabels(series.labels, names)), series]))
  const unmatched = new Set(one)
  const pairs = many.map((left): SeriesPair => {
    const right = byKey.get(labelKey(pickLabels(left.labels, names))) ?? null
    if (right) unmatched.delete(right)
    return { labels: left.labels, left, right }
  })
  return [
    ...pairs,
    ...Array.from(unmatched, (right): SeriesPair => ({ labels: right.labels, left: null, right })),
  ]
}

function labelNames(series: readonly GridSeries[]): string[] {
  return [...new Set(series.flatMap(({ labels }) => Object.keys(labels)))].toSorted()
}
