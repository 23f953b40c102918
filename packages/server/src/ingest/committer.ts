import type { ProjectVersion } from './batch.ts'
import type { Unfinished } from './batch-store.ts'
import { commitBatches, newLease, type CommitDependencies, type WaitingBatch } from './commit-batches.ts'
import { patiently } from './patience.ts'
import { removeVersion } from './remove-version.ts'
import { createRepairs } from './repairs.ts'
import {
  createWorkQueue,
  LANES,
  type Barrier,
  type Lane,
  type WaitingRemoval,
  type WaitingRollback,
  type WaitingWork,
} from './work-queue.ts'

/**
 * Commits the batches and rollbacks of one processor version. Batches go in order of arrival, one group at a time, but small ones past large
 * ones, on a lane of their own, where order does not matter. A rollback waits for all before it, and all behind it wait for it.
 */
export interface Committer {
  submit(work: WaitingWork): void
  /** Puts right what a dead instance has left. Resolves when it is done, before anything that is submitted later. */
  repair(unfinished: readonly Unfinished[]): Promise<void>
}

interface CommitterOptions extends CommitDependencies {
  readonly maxGroupBytes: number
}

export function createCommitter(version: ProjectVersion, options: CommitterOptions): Committer {
  const queue = createWorkQueue(options.maxGroupBytes)
  const repairs = createRepairs(version, options.facts, options.batches)
  const running = new Map<Lane, readonly WaitingBatch[]>()
  let isAlone = false

  /** Starts what may start. */
  function pump(): void {
    if (isAlone) return
    for (const lane of LANES) {
      if (running.has(lane)) continue
      // While one group is stored the next one gathers: the busier the sender, the larger the inserts.
      const group = queue.takeGroup(lane, [...running.values()].flat())
      if (group.length > 0) void runGroup(lane, group)
    }
    const next = running.size === 0 ? queue.takeBarrier() : undefined
    if (next) void runAlone(next)
  }

  /** Every failure is told to the callers that wait for it; this does not fail. */
  async function runGroup(lane: Lane, group: readonly WaitingBatch[]): Promise<void> {
    running.set(lane, group)
    try {
      await repairs.run()
      await commitBatches(version, group, repairs, options)
    } catch (error) {
      for (const waiting of group) waiting.reject(error)
    } finally {
      running.delete(lane)
      pump()
    }
  }

  async function runAlone(work: Barrier): Promise<void> {
    isAlone = true
    try {
      await repairs.run()
      if (work.kind === 'rollback') await rollBack(work)
      else await remove(work)
    } catch (error) {
      work.reject(error)
    } finally {
      isAlone = false
      pump()
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
      await removeVersion(version, options)
      waiting.resolve()
    } catch (error) {
      waiting.reject(error)
    }
  }

  return {
    submit: (item) => {
      queue.push(item)
      pump()
    },
    repair: async (unfinished) => {
      for (const each of unfinished) repairs.add(each)
      await patiently(async () => void (await repairs.run()), options)
    },
  }
}
