import type { LabelMatcher } from './label-matcher.ts'
import { labelValue } from './labels.ts'
import type { MetricMemory } from './metric-memory.ts'

/** Selectors remembered for a metric. */
const SELECTORS_MAX = 100

/** The places of the series that match, ascending; null where a matcher is a regular expression, which is the engine's business (MQ-4). */
export function matchingPlaces(memory: MetricMemory, matchers: readonly LabelMatcher[]): Int32Array | null {
  if (matchers.some(({ operator }) => operator === '=~' || operator === '!~')) return null
  const key = JSON.stringify(matchers)
  const known = memory.matches.get(key)
  if (known) return known
  const places: number[] = []
  for (const [place, { labels }] of memory.series.entries()) {
    const isMatch = matchers.every(
      ({ label, operator, value }) => (labelValue(labels, label) === value) === (operator === '='),
    )
    if (isMatch) places.push(place)
  }
  if (memory.matches.size >= SELECTORS_MAX) memory.matches.clear()
  const found = Int32Array.from(places)
  memory.matches.set(key, found)
  return found
}
