import type { AnsweredWrites } from '../cache/answered-writes.ts'
import { touchesOf } from '../cache/data-change.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Batch, ProjectVersion } from './batch.ts'
import type { BatchAnswer, BatchStore, KeptBatch, NewBatch } from './batch-store.ts'
import { changedDays } from './changed-days.ts'
import type { FactStore } from './fact-store.ts'
import { finishBatches } from './finish-batches.ts'
import { isPassing, patiently, type Patience } from './patience.ts'
import type { Repairs } from './repairs.ts'

/** A batch that waits to be committed, and the caller that waits for its answer. */
export interface WaitingBatch {
  readonly kind: 'batch'
  readonly batchId: string
  readonly contentHash: string
  /** Does the hash of a stored batch belong to the same bytes? */
  isSameContent(storedHash: string): boolean
  readonly batch: Batch
  /** What it was read from. */
  readonly sent: KeptBatch
  resolve(outcome: BatchOutcome): void
  reject(error: unknown): void
}

export type BatchOutcome = BatchAnswer & { readonly isRepeated: boolean }

export interface CommitDependencies extends Patience {
  readonly facts: FactStore
  readonly batches: BatchStore
  /** Names this process among the instances. */
  readonly instance: string
  /** Absent where every batch is stored before it is answered: what one instance has answered, another could not read. */
  readonly answered?: AnsweredWrites
}

/** How long nobody else takes over an open batch. Longer than the engine may be away and the inserts may run. */
const LEASE_SLACK_MS = 120_000

/** The lease of what is begun now. */
export function newLease({ clock, instance, maxEngineAwayMs }: CommitDependencies) {
  return { owner: instance, until: clock.now() + maxEngineAwayMs + LEASE_SLACK_MS }
}

/** A batch that is recorded under its number. */
interface BegunBatch {
  readonly waiting: WaitingBatch
  readonly sequence: number
}

interface OpenBatch extends BegunBatch {
  readonly warnings: readonly string[]
}

/**
 * Commits batches together: one control transaction records them, one insert a table stores them, one control transaction enqueues their
 * exports and finishes them. Each caller is answered; this never throws. When the group fails for good, every batch of it is tried alone, so that
 * one cannot fail its neighbours.
 */
export async function commitBatches(
  version: ProjectVersion,
  group: readonly WaitingBatch[],
  repairs: Repairs,
  dependencies: CommitDependencies,
): Promise<void> {
  let open: readonly OpenBatch[] = []
  let isStored = false
  try {
    open = await prepareEach(version, await beginBatches(version, group, dependencies), repairs, dependencies)
    if (open.length === 0) return
    await store(version, open, dependencies)
    isStored = true
    await finish(version, open, dependencies)
  } catch (error) {
    if (open.length === 0) {
      for (const waiting of group) waiting.reject(error)
      return
    }
    // An engine that is away is away for each of them; anything else may be the fault of one.
    const isWorthTryingAlone = open.length > 1 && (isStored || !isPassing(error))
    await takeBack(open, error, repairs, isWorthTryingAlone, async (waiting) => {
      await commitBatches(version, [waiting], repairs, dependencies)
    })
  }
}

/**
 * Records the group, with what `keep` says is to be kept; answers those that were accepted before and refuses those that somebody else is at.
 * Returns the others.
 */
export async function beginBatches(
  version: ProjectVersion,
  group: readonly WaitingBatch[],
  dependencies: CommitDependencies,
  keep: (waiting: WaitingBatch) => NewBatch['kept'] = () => undefined,
): Promise<readonly BegunBatch[]> {
  const { batches, facts } = dependencies
  const starts = await batches.begin(
    version,
    group.map((waiting) => {
      const { batchId, contentHash, batch } = waiting
      const kept = keep(waiting)
      return {
        batchId,
        contentHash,
        tables: facts.tablesOf(batch),
        touches: touchesOf(changedDays([batch])),
        ...(kept ? { kept } : {}),
      }
    }),
    newLease(dependencies),
  )
  return group.flatMap((waiting, index) => {
    const start = starts[index]
    if (start?.state === 'open') return [{ waiting, sequence: start.sequence }]
    if (start?.state === 'done') answerRepeated(waiting, start)
    else {
      waiting.reject(
        new ServiceError(
          'unavailable',
          `batch ${waiting.batchId} is being stored or taken back; send it again later`,
          {
            retryAfterSeconds: 5,
          },
        ),
      )
    }
    return []
  })
}

function answerRepeated(waiting: WaitingBatch, start: { contentHash: string; answer: BatchAnswer }): void {
  if (waiting.isSameContent(start.contentHash)) waiting.resolve({ ...start.answer, isRepeated: true })
  else waiting.reject(differentContent(waiting.batchId))
}

/** The refusal of a batch id that was used for something else. */
export function differentContent(batchId: string): ServiceError {
  return new ServiceError(
    'already_exists',
    `batchId ${batchId} was used for a batch with different content; a retry must repeat the same bytes, a new batch needs a new id`,
  )
}

/** Makes room for each batch by itself: one that contradicts the schema is refused, and the others go on. */
async function prepareEach(
  version: ProjectVersion,
  begun: readonly BegunBatch[],
  repairs: Repairs,
  { facts }: CommitDependencies,
): Promise<readonly OpenBatch[]> {
  const prepared: OpenBatch[] = []
  for (const { waiting, sequence } of begun) {
    try {
      prepared.push({ waiting, sequence, warnings: await facts.prepare(version, waiting.batch) })
    } catch (error) {
      repairs.add({ kind: 'batch', sequence, tables: [], ...version })
      // The record is dropped before the answer, so that a corrected batch may use the same id at once.
      await repairs.run().catch(() => undefined)
      waiting.reject(error)
    }
  }
  return prepared
}

function store(
  version: ProjectVersion,
  open: readonly OpenBatch[],
  dependencies: CommitDependencies,
): Promise<void> {
  const numbered = open.map(({ waiting, sequence }) => ({ sequence, batch: waiting.batch }))
  return patiently(() => dependencies.facts.write(version, numbered), dependencies)
}

/** Enqueues the exports, finishes the batches, and answers. */
async function finish(
  version: ProjectVersion,
  open: readonly OpenBatch[],
  dependencies: CommitDependencies,
): Promise<void> {
  const stored = open.map(({ waiting, ...each }) => ({ ...each, batch: waiting.batch }))
  const answers = await finishBatches(dependencies, version, stored, false)
  for (const [index, { waiting }] of open.entries()) {
    const answer = answers[index]
    if (answer) waiting.resolve({ ...answer, isRepeated: false })
  }
}

/** Takes a failed group back. What turns out to be finished all the same (its commit arrived, the news of it did not) is answered. */
async function takeBack(
  open: readonly OpenBatch[],
  error: unknown,
  repairs: Repairs,
  isWorthTryingAlone: boolean,
  commitAlone: (waiting: WaitingBatch) => Promise<void>,
): Promise<void> {
  for (const { waiting, sequence } of open) repairs.add(repairOf(waiting, sequence, repairs))
  let finished: ReadonlyMap<number, BatchAnswer>
  try {
    finished = await repairs.run()
  } catch {
    // It stays on the list of repairs, which is worked off before anything else is committed.
    for (const { waiting } of open) waiting.reject(error)
    return
  }
  for (const { waiting, sequence } of open) {
    const answer = finished.get(sequence)
    if (answer) waiting.resolve({ ...answer, isRepeated: false })
    else if (isWorthTryingAlone) await commitAlone(waiting)
    else waiting.reject(error)
  }
}

function repairOf(waiting: WaitingBatch, sequence: number, repairs: Repairs) {
  return { kind: 'batch' as const, sequence, tables: repairs.tablesOf(waiting.batch), ...repairs.version }
}
