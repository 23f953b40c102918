import type { MetricMetadata } from './batch.ts'
import { MAX_HELP_LENGTH, MAX_NAME_LENGTH, MAX_UNIT_LENGTH } from './name.ts'

/** Gathers what another system says of its metrics, of each name once. */
export interface MetadataRecords {
  /** What is no text, and what says nothing, is passed over; what is too long is cut. */
  add(name: string, unit: unknown, help: unknown): void
  /** One record of each name, the last that was said. */
  records(): readonly object[]
}

/** Of nothing yet. */
export function createMetadataRecords(): MetadataRecords {
  const byName = new Map<string, MetricMetadata>()
  return {
    add: (name, givenUnit, givenHelp) => {
      const [unit, help] = [textOf(givenUnit, MAX_UNIT_LENGTH), textOf(givenHelp, MAX_HELP_LENGTH)]
      if (name === '' || name.length > MAX_NAME_LENGTH || unit + help === '') return
      byName.set(name, { unit, help })
    },
    records: () => Array.from(byName, ([name, { unit, help }]) => ({ type: 'metric', name, unit, help })),
  }
}

/** A cut may leave half a surrogate pair, which is no Unicode text. */
function textOf(given: unknown, maxLength: number): string {
  return typeof given === 'string' ? given.slice(0, maxLength).toWellFormed() : ''
}
