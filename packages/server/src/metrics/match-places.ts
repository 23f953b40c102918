import type { LabelMatcher } from './label-matcher.ts'
import { labelValue } from './labels.ts'
import type { MetricMemory } from './metric-memory.ts'

/** Selectors remembered for a metric. */
const SELECTORS_MAX = 100

/**
 * The places of the series that match, ascending. What regular expressions match is the engine's business (MQ-4): `ask` answers the ids of the
 * series that match, and is asked once for a selector, until there are new series.
 */
export async function matchingPlaces(
  memory: MetricMemory,
  matchers: readonly LabelMatcher[],
  ask: () => Promise<readonly string[]>,
): Promise<Int32Array> {
  const key = JSON.stringify(matchers)
  const remembered = memory.matches.get(key)
  if (remembered) return remembered
  const { series } = memory
  const isAsked = matchers.some(({ operator }) => operator === '=~' || operator === '!~')
  const ids = isAsked ? new Set(await ask()) : null
  const places: number[] = []
  for (const [place, { id, labels }] of series.entries()) {
    const isMatch =
      ids?.has(id) ??
      matchers.every(
        ({ label, operator, value }) => (labelValue(labels, label) === value) === (operator === '='),
      )
    if (isMatch) places.push(place)
  }
  const found = Int32Array.from(places)
  // Series that came meanwhile were not looked at.
  if (memory.series === series) {
    if (memory.matches.size >= SELECTORS_MAX) memory.matches.clear()
    memory.matches.set(key, found)
  }
  return found
}
