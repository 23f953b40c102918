import { createChangeCollector, type ChangedDay } from '../cache/data-change.ts'
import type { Batch } from './batch.ts'

/** The names and days that batches change, for the data versions (CA-6). Exports are no data that can be queried. */
export function changedDays(batches: readonly Batch[]): readonly ChangedDay[] {
  const collector = createChangeCollector()
  for (const { samples, events, entities } of batches) {
    for (const { series, place } of samples) {
      collector.add(series.metric, place.chain, place.timestampMicros, place.blockNumber)
    }
    for (const { name, place } of [...events.values(), ...entities.values()].flat()) {
      collector.add(name, place.chain, place.timestampMicros, place.blockNumber)
    }
  }
  return collector.changes()
}
