import type { BatchAnswer, BatchStore } from './batch-store.ts'
import type { ProjectVersion } from './batch.ts'
import { chainHeads } from './chain-heads.ts'
import { changedDays } from './changed-days.ts'
import type { NumberedBatch } from './fact-store.ts'
import type { Clock } from '../platform/clock.ts'

/** A batch whose facts are stored. */
export interface StoredBatch extends NumberedBatch {
  readonly warnings?: readonly string[]
}

/** Finishes batches, enqueues their exports and tells readers what changed, in one transaction; `isKept` where their bodies are kept until then. */
export function finishBatches(
  { batches, clock }: { readonly batches: BatchStore; readonly clock: Pick<Clock, 'now'> },
  version: ProjectVersion,
  stored: readonly StoredBatch[],
  isKept: boolean,
): Promise<readonly BatchAnswer[]> {
  const all = stored.map(({ batch }) => batch)
  return batches.finish(
    version,
    stored.map(({ sequence, batch, warnings = [] }) => ({
      sequence,
      accepted: batch.recordCount,
      warnings,
      exports: batch.exports,
      isKept,
    })),
    { days: changedDays(all), heads: chainHeads(all) },
    clock.now(),
  )
}
