import type { ClaimedLane, ClaimRequest, LaneClaim, LaneStore } from '../delivery/lane.ts'
import { headersFromRow, limitsFromRow, type LaneRow } from './channel-store-row.ts'
import type { ControlDatabase } from './database.ts'
import { nextBatch } from './lane-store-batch.ts'
import { claimingRows } from './lane-store-locks.ts'
import { settleLane } from './lane-store-settle.ts'

/** Lanes in the control database. A lease is a row of `webhook_lane` with an owner, an epoch and an end. */
export function createLaneStore(db: ControlDatabase): LaneStore {
  return {
    async claim(request) {
      const failing = await claimWhere(db, request, '>', Math.min(request.failingLimit, request.limit))
      const healthy = await claimWhere(db, request, '=', request.limit - failing.length)
      return [...failing, ...healthy]
    },

    async renew(claim, leaseUntilAt) {
      const { numUpdatedRows } = await claimedLane(db, claim)
        .set({ lease_until_at: leaseUntilAt })
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },

    nextBatch: (claim, request) => nextBatch(db, claim, request),

    settle: (claim, settlement) => db.transaction().execute((tx) => settleLane(tx, claim, settlement)),

    async release(claim, { cursorSeq, servedAt }) {
      await claimedLane(db, claim)
        .set({ owner: null, lease_until_at: 0, cursor_seq: cursorSeq, served_at: servedAt })
        .execute()
    },
  }
}

/** The lane's row, if its claim stands. */
function claimedLane(db: ControlDatabase, { laneId, owner, epoch }: LaneClaim) {
  return db
    .updateTable('webhook_lane')
    .where('id', '=', laneId)
    .where('owner', '=', owner)
    .where('epoch', '=', epoch)
}

async function claimWhere(
  db: ControlDatabase,
  { owner, nowMs, leaseMs }: ClaimRequest,
  failures: '=' | '>',
  limit: number,
): Promise<readonly ClaimedLane[]> {
  if (limit <= 0) return []
  const ready = db
    .selectFrom('webhook_lane')
    .select('id')
    .where('url', 'is not', null)
    .where('is_paused', '=', 0)
    .where('disabled_reason', 'is', null)
    .where('failures', failures, 0)
    .where('next_attempt_at', '<=', nowMs)
    .where('lease_until_at', '<=', nowMs)
    .where((eb) => {
      const messages = eb
        .selectFrom('webhook_message')
        .select('webhook_message.lane_id')
        .whereRef('webhook_message.lane_id', '=', 'webhook_lane.id')
      return eb.or([
        eb.exists(
          messages
            .whereRef('webhook_message.seq', '>', 'webhook_lane.cursor_seq')
            .where('webhook_message.shelved_until_at', 'is', null),
        ),
        eb.exists(messages.where('webhook_message.shelved_until_at', '<=', nowMs)),
      ])
    })
    .orderBy('served_at')
    .limit(limit)
  // As a common table expression, because a subquery that locks may be run more than once.
  const rows = await db
    .with('ready', () => claimingRows(db, ready))
    .updateTable('webhook_lane')
    .set((eb) => ({ owner, epoch: eb('epoch', '+', 1), lease_until_at: nowMs + leaseMs }))
    .where('id', 'in', (eb) => eb.selectFrom('ready').select('ready.id'))
    .returningAll()
    .execute()
  return rows.map((row) => fromRow(row, owner))
}

function fromRow(row: LaneRow, owner: string): ClaimedLane {
  return {
    claim: { laneId: row.id, owner, epoch: row.epoch },
    projectId: row.project_id,
    channel: row.name,
    url: row.url ?? '',
    headers: headersFromRow(row),
    secrets: row.secret === null ? [] : [row.secret],
    limits: limitsFromRow(row),
    agesFromAt: row.ages_from_at,
    state: {
      failures: row.failures,
      failingSinceAt: row.failing_since_at,
      refusals: row.refusals,
      batchLimit: row.batch_limit,
      cursorSeq: row.cursor_seq,
    },
  }
}
