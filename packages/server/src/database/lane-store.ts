import type { ClaimedLane, ClaimRequest, LaneClaim, LaneStore } from '../delivery/lane.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { announce } from './lane-store-announce.ts'
import { nextBatch } from './lane-store-batch.ts'
import { claimAlone } from './lane-store-claim-alone.ts'
import { claimReady, lanesFromRows } from './lane-store-claim.ts'
import { hasRowLocks } from './lane-store-locks.ts'
import { createSettler } from './lane-store-settler.ts'
import { unsyncedTransaction } from './unsynced-transaction.ts'

/** Lanes in the control database. A lease is a row of `webhook_lane` with an owner, an epoch and an end. */
export function createLaneStore(db: ControlDatabase): LaneStore {
  return {
    claim: (request) =>
      hasRowLocks(db) ? claimFairly(db, request) : unsyncedTransaction(db, (tx) => claimAlone(tx, request)),

    async renew(claim, leaseUntilAt) {
      const { numUpdatedRows } = await claimedLane(db, claim)
        .set({ lease_until_at: leaseUntilAt })
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },

    nextBatch: (claim, request) => nextBatch(db, claim, request),

    announce: (claim, messages, nowMs) => announce(db, claim.laneId, messages, nowMs),

    settle: createSettler(db),

    async releaseAll() {
      await db
        .updateTable('webhook_lane')
        .set((eb) => ({ owner: null, lease_until_at: 0, epoch: eb('epoch', '+', 1) }))
        .where('lease_until_at', '>', 0)
        .execute()
    },

    async release(claim, servedAt) {
      const set = { owner: null, lease_until_at: 0, served_at: servedAt }
      await unsyncedTransaction(db, (tx) => claimedLane(tx, claim).set(set).execute())
    },
  }
}

/** Failing lanes take their share first, and count for their hosts when the others are chosen (DL-9). */
async function claimFairly(db: ControlDatabase, request: ClaimRequest): Promise<readonly ClaimedLane[]> {
  const failingLimit = Math.min(request.failingLimit, request.limit)
  const failing = await claimReady(db, request, '>', failingLimit, request.busyHosts)
  const busyHosts = new Map(request.busyHosts)
  for (const { host } of failing) busyHosts.set(host ?? '', (busyHosts.get(host ?? '') ?? 0) + 1)
  const healthy = await claimReady(db, request, '=', request.limit - failing.length, busyHosts)
  return lanesFromRows(db, [...failing, ...healthy], request)
}

/** The lane's row, if its claim stands. */
function claimedLane(db: ControlDatabase | ControlTransaction, { laneId, owner, epoch }: LaneClaim) {
  return db
    .updateTable('webhook_lane')
    .where('id', '=', laneId)
    .where('owner', '=', owner)
    .where('epoch', '=', epoch)
}
