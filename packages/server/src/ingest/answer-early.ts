import { touchesOf } from '../cache/data-change.ts'
import type { AnsweredWrites } from '../cache/answered-writes.ts'
import type { ProjectVersion } from './batch.ts'
import type { BatchAnswer } from './batch-store.ts'
import { changedDays } from './changed-days.ts'
import { beginBatches, type CommitDependencies, type WaitingBatch } from './commit-batches.ts'
import type { FactStore } from './fact-store.ts'
import type { AnsweredBatch } from './kept-batches.ts'
import { isOrdered } from './work-queue.ts'

/**
 * Can nothing but a failing engine keep a batch from being stored, whenever that is? Then it may be answered before. Not one whose exports are to
 * be delivered, or whose order matters beside others.
 */
export async function mayBeAnsweredEarly(
  version: ProjectVersion,
  { batch }: WaitingBatch,
  facts: FactStore,
): Promise<boolean> {
  return !isOrdered(batch) && (await facts.isPrepared(version, batch))
}

/**
 * Answers batches as soon as they are recorded with their bodies, which makes them durable (IN-2). What is returned is to be stored; readers wait
 * for it. Each caller is answered or told the failure; this never throws.
 */
export async function answerEarly(
  version: ProjectVersion,
  group: readonly WaitingBatch[],
  dependencies: CommitDependencies & { readonly answered: AnsweredWrites },
): Promise<readonly AnsweredBatch[]> {
  try {
    const begun = await beginBatches(version, group, dependencies, ({ batch, sent }) => ({
      ...sent,
      answer: earlyAnswer(batch.recordCount),
    }))
    return begun.map(({ waiting, sequence }) => {
      const { batch, sent } = waiting
      const noteStored = dependencies.answered.note(version, touchesOf(changedDays([batch])))
      waiting.resolve({ ...earlyAnswer(batch.recordCount), isRepeated: false })
      return { sequence, batch, bytes: sent.body.byteLength, noteStored }
    })
  } catch (error) {
    for (const waiting of group) waiting.reject(error)
    return []
  }
}

/** Nothing is made for such a batch that there could be a warning of. */
function earlyAnswer(accepted: number): BatchAnswer {
  return { accepted, warnings: [] }
}
