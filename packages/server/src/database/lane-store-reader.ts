import { setImmediate } from 'node:timers/promises'
import type { Batch, BatchRequest, LaneClaim, LaneStore } from '../delivery/lane.ts'
import type { ControlDatabase } from './database.ts'
import { LANES_READ_TOGETHER, nextBatch, unshelvedBatches } from './lane-store-batch.ts'
import { hasRowLocks } from './lane-store-locks.ts'

interface Waiting {
  readonly claim: LaneClaim
  readonly request: BatchRequest
  resolve(batch: Batch | null): void
  reject(error: unknown): void
}

/**
 * Reads what lanes send next. On PostgreSQL, what is asked for while one answer is under way goes together in the next question, so that a
 * thousand lanes cost dozens of ways there and back and not thousands.
 */
export function createBatchReader(db: ControlDatabase): LaneStore['nextBatch'] {
  if (!hasRowLocks(db)) return (claim, request) => nextBatch(db, claim, request)
  const waiting = new Map<number, Waiting>()
  let running: Promise<void> | null = null

  async function readWaiting(): Promise<void> {
    while (waiting.size > 0) {
      // What is asked for in the same turn of the event loop goes together.
      await setImmediate()
      const group = [...waiting.values()].slice(0, LANES_READ_TOGETHER)
      for (const { claim } of group) waiting.delete(claim.laneId)
      await readGroup(db, group).catch((error: unknown) => group.forEach((one) => one.reject(error)))
    }
    running = null
  }

  return (claim, request) => {
    if (waiting.has(claim.laneId)) return nextBatch(db, claim, request)
    return new Promise((resolve, reject) => {
      waiting.set(claim.laneId, { claim, request, resolve, reject })
      running ??= readWaiting()
    })
  }
}

async function readGroup(db: ControlDatabase, group: readonly Waiting[]): Promise<void> {
  const requests = group.map(({ claim: { laneId }, request }) => ({ laneId, ...request }))
  const nowMs = requests.reduce((latest, request) => Math.max(latest, request.nowMs), 0)
  const batches = await unshelvedBatches(db, requests, nowMs)
  for (const { claim, request, resolve, reject } of group) {
    const batch = batches.get(claim.laneId)
    if (batch === undefined) nextBatch(db, claim, request).then(resolve, reject)
    else resolve(batch)
  }
}
