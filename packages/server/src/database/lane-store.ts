import type { LaneClaim, LaneStore } from '../delivery/lane.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { announce } from './lane-store-announce.ts'
import { claimAlone, readyAlone } from './lane-store-claim-alone.ts'
import { claimReady, readyLanes } from './lane-store-claim.ts'
import { hasRowLocks } from './lane-store-locks.ts'
import { createBatchReader } from './lane-store-reader.ts'
import { createSettler } from './lane-store-settler.ts'
import { embeddedAdapterOf } from './sqlite-adapter.ts'
import { unsyncedTransaction, WITHOUT_WAITING } from './unsynced-transaction.ts'

/** Lanes in the control database. A lease is a row of `webhook_lane_state` with an owner, an epoch and an end. */
export function createLaneStore(db: ControlDatabase): LaneStore {
  const settle = createSettler(db)
  const readBatch = createBatchReader(db)
  return {
    ready: (nowMs, limit) => (hasRowLocks(db) ? readyLanes(db, nowMs, limit) : readyAlone(db, nowMs, limit)),

    async claim(request) {
      if (hasRowLocks(db)) return claimReady(db, request)
      const lanes = await unsyncedTransaction(db, (tx) => claimAlone(tx, request))
      if (lanes.length > 0) await untilDurable(db)
      return lanes
    },

    async renew(claim, leaseUntilAt) {
      const renewal = claimedLane(db, claim).set({ lease_until_at: leaseUntilAt })
      const unsynced = hasRowLocks(db) ? renewal.where(WITHOUT_WAITING) : renewal
      return (await unsynced.executeTakeFirstOrThrow()).numUpdatedRows > 0n
    },

    async nextBatch(claim, request) {
      const batch = await readBatch(claim, request)
      if (batch !== null) await untilDurable(db)
      return batch
    },

    announce: (claim, messages, nowMs) => announce(db, claim.laneId, messages, nowMs),

    async settle(claim, settlement) {
      const settled = await settle(claim, settlement)
      if (settled.state === 'held') await untilDurable(db)
      return settled
    },

    async releaseAll() {
      await db
        .updateTable('webhook_lane_state')
        .set((eb) => ({ owner: null, lease_until_at: 0, epoch: eb('epoch', '+', 1) }))
        .where('lease_until_at', '>', 0)
        .execute()
    },

    async release(claim, servedAt) {
      const set = { owner: null, lease_until_at: 0, served_at: servedAt }
      if (hasRowLocks(db)) await claimedLane(db, claim).set(set).where(WITHOUT_WAITING).execute()
      else await unsyncedTransaction(db, (tx) => claimedLane(tx, claim).set(set).execute())
    },
  }
}

/**
 * Before messages are sent that were read on SQLite, where they are seen before they are on the disk: a failure of power must not undo
 * what a receiver has, because their event ids would be given to others (EV-1).
 */
async function untilDurable(db: ControlDatabase): Promise<void> {
  await embeddedAdapterOf(db)?.driver.synced()
}

/** The lane's row, if its claim stands. */
function claimedLane(db: ControlDatabase | ControlTransaction, { laneId, owner, epoch }: LaneClaim) {
  return db
    .updateTable('webhook_lane_state')
    .where('lane_id', '=', laneId)
    .where('owner', '=', owner)
    .where('epoch', '=', epoch)
}
