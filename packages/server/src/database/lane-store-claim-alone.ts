import { sql } from 'kysely'
import { chooseLanes } from '../delivery/choose-lanes.ts'
import type { ClaimedLane, ClaimRequest } from '../delivery/lane.ts'
import type { ControlTransaction } from './database.ts'
import { givenRows } from './given-rows.ts'
import { isFree, isNoneOf, lanesFromRows } from './lane-store-claim.ts'

/**
 * Claiming on SQLite, whose only writer is this process: nothing has to be locked, so the choice is made here. There are no
 * dead rows either, so the lanes in which something waits are found by leaping from one to the next in the key of the queue;
 * asking each of a thousand lanes costs milliseconds at every wake-up.
 */
export async function claimAlone(
  tx: ControlTransaction,
  request: ClaimRequest,
): Promise<readonly ClaimedLane[]> {
  const { owner, nowMs, leaseMs, exceptLaneIds } = request
  const ready = await tx
    .selectFrom('webhook_lane')
    .select(['id', 'host', 'failures'])
    .where(
      sql<boolean>`webhook_lane.id in (
        with recursive waiting(lane_id) as (
          select min(lane_id) from webhook_message
          union all
          select (select min(lane_id) from webhook_message where lane_id > waiting.lane_id) from waiting
          where waiting.lane_id is not null
        )
        select lane_id from waiting where lane_id is not null)`,
    )
    .where((eb) => isFree(eb, nowMs))
    .where(isNoneOf(tx, exceptLaneIds))
    .where(
      sql<boolean>`(
        exists (
          select 1 from webhook_message as message where message.lane_id = webhook_lane.id
          and message.seq > webhook_lane.cursor_seq and message.shelved_until_at is null)
        or exists (
          select 1 from webhook_message as message where message.lane_id = webhook_lane.id
          and message.shelved_until_at <= ${nowMs}))`,
    )
    .orderBy('served_at')
    .execute()
  const chosen = chooseLanes(
    ready.map(({ id, host, failures }) => ({ id, host: host ?? '', isFailing: failures > 0 })),
    request,
  )
  if (chosen.length === 0) return []
  const given = givenRows(
    tx,
    { lane_id: 'bigint' },
    chosen.map(({ id }) => [id]),
  )
  const rows = await tx
    .updateTable('webhook_lane')
    .set((eb) => ({ owner, epoch: eb('epoch', '+', 1), lease_until_at: nowMs + leaseMs }))
    .where(sql<boolean>`webhook_lane.id in (select lane_id from ${given} as given)`)
    .returningAll()
    .execute()
  return lanesFromRows(tx, rows, request)
}
