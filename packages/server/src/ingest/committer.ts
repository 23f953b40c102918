import type { ProjectVersion } from './batch.ts'
import type { Unfinished } from './batch-store.ts'
import { answerEarly, mayBeAnsweredEarly } from './answer-early.ts'
import { commitBatches, newLease, type CommitDependencies, type WaitingBatch } from './commit-batches.ts'
import { patiently } from './patience.ts'
import { removeVersion } from './remove-version.ts'
import { createKeptBatches, type KeptDependencies } from './kept-batches.ts'
import { createRepairs, type RepairDependencies } from './repairs.ts'
import type { Rush } from './rush.ts'
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
  /** Resolves when what was answered early is stored, or has to wait for the next start. */
  stop(): Promise<void>
}

interface CommitterOptions extends CommitDependencies, KeptDependencies, RepairDependencies {
  /** Of all versions together: they share the engine. */
  readonly rush: Rush
  readonly maxGroupBytes: number
}

export function createCommitter(version: ProjectVersion, options: CommitterOptions): Committer {
  const queue = createWorkQueue(options.maxGroupBytes)
  const repairs = createRepairs(version, options)
  const kept = createKeptBatches(version, options, pump)
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
    const next = running.size === 0 && kept.isEmpty() ? queue.takeBarrier() : undefined
    if (next) void runAlone(next)
  }

  /** Every failure is told to the callers that wait for it; this does not fail. */
  async function runGroup(lane: Lane, group: readonly WaitingBatch[]): Promise<void> {
    running.set(lane, group)
    const endRush = lane === 'large' ? options.rush.begin() : undefined
    try {
      await repairs.run()
      const rest = lane === 'small' ? await answerSome(group) : group
      if (rest.length > 0) await commitBatches(version, rest, repairs, options)
    } catch (error) {
      for (const waiting of group) waiting.reject(error)
    } finally {
      endRush?.()
      running.delete(lane)
      pump()
    }
  }

  /** Answers at once what need not wait behind large batches for the engine. Returns the others. */
  async function answerSome(group: readonly WaitingBatch[]): Promise<readonly WaitingBatch[]> {
    const { answered, rush, facts } = options
    const bytes = group.reduce((sum, { sent }) => sum + sent.body.byteLength, 0)
    if (!answered || !rush.isOn() || !kept.hasRoom(bytes)) return group
    const early: WaitingBatch[] = []
    for (const waiting of group) if (await mayBeAnsweredEarly(version, waiting, facts)) early.push(waiting)
    if (early.length === 0) return group
    kept.add(await answerEarly(version, early, { ...options, answered }))
    return group.filter((waiting) => !early.includes(waiting))
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
    stop: kept.stop,
  }
}
