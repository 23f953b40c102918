import type { ProjectVersion } from './batch.ts'
import type { RollbackOrder, Unfinished } from './batch-store.ts'
import { commitBatches, newLease, type CommitDependencies, type WaitingBatch } from './commit-batches.ts'
import { patiently } from './patience.ts'
import { createRepairs } from './repairs.ts'

/** A rollback that waits for its turn among the batches. */
export interface WaitingRollback {
  readonly kind: 'rollback'
  readonly order: RollbackOrder
  resolve(withdrawnExports: number): void
  reject(error: unknown): void
}

/** The end of the version's data, which waits until what was accepted before is stored. */
export interface WaitingRemoval {
  readonly kind: 'removal'
  resolve(): void
  reject(error: unknown): void
}

type Work = WaitingBatch | WaitingRollback | WaitingRemoval

/** Commits the batches and rollbacks of one processor version in order of arrival, one group at a time. */
export interface Committer {
  submit(work: Work): void
  /** Puts right what a dead instance has left. Resolves when it is done, before anything that is submitted later. */
  repair(unfinished: readonly Unfinished[]): Promise<void>
}

interface CommitterOptions extends CommitDependencies {
  readonly maxGroupBytes: number
}

/** A statement of the control database stays far below its limit of bound values. */
const MAX_GROUP_BATCHES = 500

export function createCommitter(version: ProjectVersion, options: CommitterOptions): Committer {
  const queue: Work[] = []
  const repairs = createRepairs(version, options.facts, options.batches)
  let isRunning = false

  async function work(): Promise<void> {
    while (queue.length > 0) {
      // While one group is stored the next one gathers: the busier the sender, the larger the inserts.
      const group = takeGroup(queue, options.maxGroupBytes)
      try {
        await repairs.run()
      } catch (error) {
        for (const waiting of group) waiting.reject(error)
        continue
      }
      const [first] = group
      if (first?.kind === 'rollback') await rollBack(first)
      else if (first?.kind === 'removal') await remove(first)
      else await commitBatches(version, group as readonly WaitingBatch[], repairs, options)
    }
  }

  async function rollBack(waiting: WaitingRollback): Promise<void> {
    try {
      const { sequence, withdrawnExports } = await options.batches.beginRollback(
        version,
        waiting.order,
        newLease(options),
      )
      repairs.add({ kind: 'rollback', sequence, order: waiting.order, ...version })
      await patiently(async () => void (await repairs.run()), options)
      waiting.resolve(withdrawnExports)
    } catch (error) {
      waiting.reject(error)
    }
  }

  async function remove(waiting: WaitingRemoval): Promise<void> {
    try {
      await patiently(() => options.facts.dropVersion(version), options)
      waiting.resolve()
    } catch (error) {
      waiting.reject(error)
    }
  }

  async function start(): Promise<void> {
    if (isRunning) return
    isRunning = true
    // Every failure is told to the callers that wait for it; work itself does not fail.
    await work().finally(() => {
      isRunning = false
    })
  }

  return {
    submit: (item) => {
      queue.push(item)
      void start()
    },
    repair: async (unfinished) => {
      for (const each of unfinished) repairs.add(each)
      await patiently(async () => void (await repairs.run()), options)
    },
  }
}

/** The batches at the head of the queue up to the size of one insert, or one rollback or removal. */
function takeGroup(queue: Work[], maxBytes: number): readonly Work[] {
  let count = 0
  let bytes = 0
  for (const waiting of queue) {
    if (waiting.kind !== 'batch') {
      if (count === 0) count = 1
      break
    }
    bytes += waiting.bytes
    if (count > 0 && (bytes > maxBytes || count === MAX_GROUP_BATCHES)) break
    count++
  }
  return queue.splice(0, count)
}
