import type { Batch } from './batch.ts'
import type { RollbackOrder } from './batch-store.ts'
import type { WaitingBatch } from './commit-batches.ts'

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

/** What is done alone: all before it is finished, and all behind it has not begun. */
export type Barrier = WaitingRollback | WaitingRemoval
export type WaitingWork = WaitingBatch | Barrier

/** Small batches need not wait until large ones are stored. */
export const LANES = ['small', 'large'] as const
export type Lane = (typeof LANES)[number]

/** The work of one processor version in order of arrival. */
export interface WorkQueue {
  push(work: WaitingWork): void
  /** Takes the next batches of a lane, up to the size of one insert, none of them behind a barrier. `running` is what the other lane is at. */
  takeGroup(lane: Lane, running: readonly WaitingBatch[]): readonly WaitingBatch[]
  /** Takes the barrier at the head, if there is one. */
  takeBarrier(): Barrier | undefined
}

/** A statement of the control database stays far below its limit of bound values. */
const MAX_GROUP_BATCHES = 500
/** Some hundreds of records. */
const MAX_SMALL_BYTES = 128 * 1024

export function createWorkQueue(maxGroupBytes: number): WorkQueue {
  const queue: WaitingWork[] = []
  return {
    push: (work) => void queue.push(work),

    takeGroup: (lane, running) => {
      const group: WaitingBatch[] = []
      const passed: WaitingWork[] = []
      // Batches whose order matters do not overtake each other.
      let mustWait = running.some(({ batch: other }) => isOrdered(other))
      let bytes = 0
      let taken = 0
      for (const work of queue) {
        if (work.kind !== 'batch') break
        const isOurs = laneOf(work) === lane && !(mustWait && isOrdered(work.batch))
        if (isOurs) {
          const ownBytes = work.sent.body.byteLength
          const isFull = bytes + ownBytes > maxGroupBytes || group.length === MAX_GROUP_BATCHES
          if (group.length > 0 && isFull) break
          group.push(work)
          bytes += ownBytes
        } else {
          passed.push(work)
          mustWait ||= isOrdered(work.batch)
        }
        taken++
      }
      if (group.length > 0) queue.splice(0, taken, ...passed)
      return group
    },

    takeBarrier: () => {
      const [first] = queue
      if (!first || first.kind === 'batch') return undefined
      queue.shift()
      return first
    },
  }
}

function laneOf({ sent }: WaitingBatch): Lane {
  return sent.body.byteLength <= MAX_SMALL_BYTES ? 'small' : 'large'
}

/** Exports are delivered, and changes and samples of one place or none are ordered, as they arrive: does a batch hold any of these? */
export function isOrdered(batch: Batch): boolean {
  if (batch.exports.length > 0 || batch.entities.size > 0) return true
  for (const { labels } of batch.series) if (labels['chain'] === undefined) return true
  return false
}
