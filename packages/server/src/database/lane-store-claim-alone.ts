import { sql, type Expression, type RawBuilder } from 'kysely'
import { chooseLanes } from '../delivery/choose-lanes.ts'
import { batchRequest, type ClaimedLane, type ClaimRequest } from '../delivery/lane.ts'
import type { LaneRow } from './channel-store-row.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { givenLanes } from './given-rows.ts'
import { LANES_READ_TOGETHER, unshelvedBatches } from './lane-store-batch.ts'
import { isFree, isNoneOf, laneFromRow } from './lane-store-claim.ts'
import { createStatement, type StandIn, type StandIns } from './statement.ts'

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
  const { rows: ready } =
    among === null
      ? await findReady(tx, { nowMs, exceptLaneIds })
      : await findReadyAmong(tx, { nowMs, exceptLaneIds, among })
  const chosen = chooseLanes(
    ready.map(({ id, host, failures }) => ({ id, host: host ?? '', isFailing: failures > 0 })),
    request,
  )
  if (chosen.length === 0) return []
  const laneIds = chosen.map(({ id }) => id)
  await lease(tx, { laneIds, owner, leaseUntilAt: nowMs + leaseMs })
  const { rows } = await readLanes(tx, { laneIds })
  return lanesFromRows(tx, rows, request)
}

interface ReadyValues {
  readonly nowMs: number
  readonly exceptLaneIds: readonly number[]
}

const findReady = createStatement((given: StandIns<ReadyValues>, db) =>
  readyQuery(db, given, WAITING_LANES).compile(db),
)

const findReadyAmong = createStatement(
  (given: StandIns<ReadyValues & { readonly among: readonly number[] }>, db) =>
    readyQuery(db, given, selectLanes(db, given.among)).compile(db),
)

function readyQuery(
  db: ControlDatabase | ControlTransaction,
  { nowMs, exceptLaneIds }: StandIns<ReadyValues>,
  laneIds: RawBuilder<unknown>,
) {
  return sql<Pick<LaneRow, 'id' | 'host' | 'failures'>>`
    select lane.id, lane.host, state.failures
    ${readyFrom(nowMs, laneIds)} and ${isNoneOf(db, exceptLaneIds)}
    order by state.served_at`
}

interface Lease {
  readonly laneIds: readonly number[]
  readonly owner: string
  readonly leaseUntilAt: number
}

const lease = createStatement(({ laneIds, owner, leaseUntilAt }: StandIns<Lease>, db) =>
  sql`
    update webhook_lane_state set owner = ${owner}, epoch = epoch + 1, lease_until_at = ${leaseUntilAt}
    where lane_id in (${selectLanes(db, laneIds)})`.compile(db),
)

const readLanes = createStatement(({ laneIds }: StandIns<Pick<Lease, 'laneIds'>>, db) =>
  sql<LaneRow>`
    select lane.*, state.* from webhook_lane as lane join webhook_lane_state as state on state.lane_id = lane.id
    where lane.id in (${selectLanes(db, laneIds)})`.compile(db),
)

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
  const { rows } = await findIds(db, { nowMs, limit })
  return rows.map(({ id }) => id)
}

const findIds = createStatement(
  ({ nowMs, limit }: StandIns<{ readonly nowMs: number; readonly limit: number }>, db) =>
    sql<{ id: number }>`
      select lane.id ${readyFrom(nowMs, WAITING_LANES)} order by state.served_at limit ${limit}`.compile(db),
)

/** Where those of the given lanes are read from that are ready. */
function readyFrom(nowMs: Expression<number>, laneIds: RawBuilder<unknown>): RawBuilder<unknown> {
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

function selectLanes(
  db: ControlDatabase | ControlTransaction,
  laneIds: StandIn<readonly number[]>,
): RawBuilder<unknown> {
  return sql`select lane_id from ${givenLanes(db, laneIds)} as given`
}
