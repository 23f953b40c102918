import { sql, type RawBuilder } from 'kysely'
import { chooseLanes } from '../delivery/choose-lanes.ts'
import { batchRequest, type ClaimedLane, type ClaimRequest } from '../delivery/lane.ts'
import type { LaneRow } from './channel-store-row.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { givenRows } from './given-rows.ts'
import { LANES_READ_TOGETHER, unshelvedBatches } from './lane-store-batch.ts'
import { isFree, isNoneOf, laneFromRow } from './lane-store-claim.ts'

/**
 * Claiming on SQLite, whose only writer is this process: nothing has to be locked, so the choice is made here. There are no
 * dead rows either, so the lanes in which something waits are found by leaping from one to the next in the key of the queue;
 * asking each of a thousand lanes costs milliseconds at every wake-up.
 */
export async function claimAlone(
  tx: ControlTransaction,
  request: ClaimRequest,
): Promise<readonly ClaimedLane[]> {
  const { owner, nowMs, leaseMs, exceptLaneIds, among } = request
  const { rows: ready } = await sql<Pick<LaneRow, 'id' | 'host' | 'failures'>>`
    select lane.id, lane.host, state.failures
    ${readyFrom(nowMs, among === null ? WAITING_LANES : givenLanes(tx, among))} and ${isNoneOf(tx, exceptLaneIds)}
    order by state.served_at`.execute(tx)
  const chosen = chooseLanes(
    ready.map(({ id, host, failures }) => ({ id, host: host ?? '', isFailing: failures > 0 })),
    request,
  )
  if (chosen.length === 0) return []
  const claimed = givenLanes(
    tx,
    chosen.map(({ id }) => id),
  )
  await sql`
    update webhook_lane_state set owner = ${owner}, epoch = epoch + 1, lease_until_at = ${nowMs + leaseMs}
    where lane_id in (${claimed})`.execute(tx)
  const { rows } = await sql<LaneRow>`
    select lane.*, state.* from webhook_lane as lane join webhook_lane_state as state on state.lane_id = lane.id
    where lane.id in (${claimed})`.execute(tx)
  return lanesFromRows(tx, rows, request)
}

/** Lanes as their owner gets them, the first of them with what they send first; a shelved message that is due is left to be looked for (DL-4). */
async function lanesFromRows(
  tx: ControlTransaction,
  rows: readonly LaneRow[],
  { owner, nowMs }: ClaimRequest,
): Promise<readonly ClaimedLane[]> {
  const lanes = rows.map((row) => laneFromRow(row, owner, nowMs))
  const requests = lanes
    .slice(0, LANES_READ_TOGETHER)
    .map(({ claim: { laneId }, limits, state }) => ({ laneId, ...batchRequest(limits, state, nowMs) }))
  const batches = await unshelvedBatches(tx, requests, nowMs)
  return lanes.map((lane) => ({ ...lane, first: batches.get(lane.claim.laneId) ?? null }))
}

/** The ids of lanes that have something to send now and that nobody holds, those that waited longest first. */
export async function readyAlone(
  db: ControlDatabase,
  nowMs: number,
  limit: number,
): Promise<readonly number[]> {
  const { rows } = await sql<{ id: number }>`
    select lane.id ${readyFrom(nowMs, WAITING_LANES)} order by state.served_at limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Where those of the given lanes are read from that are ready. */
function readyFrom(nowMs: number, laneIds: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    from webhook_lane as lane join webhook_lane_state as state on state.lane_id = lane.id
    where lane.id in (${laneIds}) and ${isFree(nowMs)}
    and (
      exists (
        select 1 from webhook_message as message where message.lane_id = lane.id
        and message.seq > state.cursor_seq and message.shelved_until_at is null)
      or exists (
        select 1 from webhook_message as message where message.lane_id = lane.id
        and message.shelved_until_at <= ${nowMs}))`
}

const WAITING_LANES = sql`
  with recursive waiting(lane_id) as (
    select min(lane_id) from webhook_message
    union all
    select (select min(lane_id) from webhook_message where lane_id > waiting.lane_id) from waiting
    where waiting.lane_id is not null
  )
  select lane_id from waiting where lane_id is not null`

function givenLanes(tx: ControlTransaction, laneIds: readonly number[]): RawBuilder<unknown> {
  const given = givenRows(
    tx,
    { lane_id: 'bigint' },
    laneIds.map((laneId) => [laneId]),
  )
  return sql`select lane_id from ${given} as given`
}
