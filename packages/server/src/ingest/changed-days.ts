import { createChangeCollector, type ChangedDay } from '../cache/data-change.ts'
import type { Batch } from './batch.ts'

/** They are asked for when a batch is begun and when it is finished. */
const known = new WeakMap<Batch, readonly ChangedDay[]>()

/** The names and days that batches change, for the data versions (CA-6). Exports are no data that can be queried. */
export function changedDays(batches: readonly Batch[]): readonly ChangedDay[] {
  const [first] = batches
  if (first && batches.length === 1) return daysOf(first)
  const collector = createChangeCollector()
  for (const { name, chain, oldestMicros, newestMicros, highestBlock } of batches.flatMap(daysOf)) {
    collector.add(name, chain, oldestMicros, highestBlock)
    collector.add(name, chain, newestMicros, highestBlock)
  }
  return collector.changes()
}

function daysOf(batch: Batch): readonly ChangedDay[] {
  const days = known.get(batch) ?? collectDays(batch)
  known.set(batch, days)
  return days
}

function collectDays({ samples, events, entities }: Batch): readonly ChangedDay[] {
  const collector = createChangeCollector()
  for (const { series, place } of samples) {
    collector.add(series.metric, place.chain, place.timestampMicros, place.blockNumber)
  }
  for (const { name, place } of [...events.values(), ...entities.values()].flat()) {
    collector.add(name, place.chain, place.timestampMicros, place.blockNumber)
  }
  return collector.changes()
}
