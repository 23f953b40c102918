import { sql } from 'kysely'
import { DEFAULT_LIMITS, SYSTEM_TLS } from '../delivery/channel.ts'
import { channelColumns, tlsColumns, type ChannelRow } from './channel-store-row.ts'
import type { ControlTransaction } from './database.ts'
import { hasRowLocks } from './lane-store-locks.ts'
import { givenRows } from './given-rows.ts'
import {
  COUNTER_COLUMNS,
  countersFromRow,
  joinCounters,
  type CounterRow,
  type LaneCounters,
} from './lane-counters.ts'

/** A lane as ingest sees it. */
export interface OutboxLane {
  readonly id: number
  readonly name: string
  readonly isConfigured: boolean
  /** DL-13. */
  readonly confirmations: number
  readonly isRetracting: boolean
  /** Its row is locked until the transaction ends. */
  readonly counters: LaneCounters
}

/**
 * The lanes of the named channels, in order of their ids, with their counters locked; those that do not exist yet are created without an
 * address (IN-7).
 */
export async function findOrCreateLanes(
  tx: ControlTransaction,
  projectId: number,
  names: readonly string[],
  nowMs: number,
): Promise<readonly OutboxLane[]> {
  const known = await findLanes(tx, projectId, names)
  const isAlive = new Set(known.filter((lane) => lane.deleted_at === null).map((lane) => lane.name))
  const missing = names.filter((name) => !isAlive.has(name))
  for (const name of missing) await createLane(tx, projectId, name, nowMs)
  const lanes = missing.length === 0 ? known : await findLanes(tx, projectId, names)
  return lanes.map((row) => ({
    id: row.lane_id,
    name: row.name,
    isConfigured: row.url !== null,
    confirmations: row.confirmations,
    isRetracting: row.is_retracting === 1,
    counters: countersFromRow(row),
  }))
}

type FoundLane = CounterRow &
  Pick<ChannelRow, 'name' | 'url' | 'deleted_at' | 'confirmations' | 'is_retracting'>

async function findLanes(
  tx: ControlTransaction,
  projectId: number,
  names: readonly string[],
): Promise<readonly FoundLane[]> {
  const given = givenRows(
    tx,
    { name: 'text' },
    names.map((name) => [name]),
  )
  const isNamed = sql`channel.project_id = ${projectId} and channel.name = given.name`
  // Each by its name, and not in the order of an index, which would be read as a whole for the sake of it.
  const channels = hasRowLocks(tx)
    ? sql`${given} as given cross join lateral (
        select * from webhook_lane as channel where ${isNamed} offset 0) as channel order by channel.id`
    : sql`${given} as given cross join webhook_lane as channel where ${isNamed} order by channel.id + 0`
  const { rows } = await sql<FoundLane>`
    select lane.name, lane.url, lane.deleted_at, lane.confirmations, lane.is_retracting,
      ${COUNTER_COLUMNS}
    from (select channel.* from ${channels}) as lane
    ${joinCounters(tx, sql<number>`lane.id`)}`.execute(tx)
  return rows.toSorted((a, b) => a.lane_id - b.lane_id)
}

/** Creates a lane without an address, or brings a deleted one back with its event ids (EV-1). */
export async function createLane(
  tx: ControlTransaction,
  projectId: number,
  name: string,
  nowMs: number,
): Promise<number> {
  const { id } = await tx
    .insertInto('webhook_lane')
    .values({
      project_id: projectId,
      name,
      created_at: nowMs,
      url: null,
      secret: null,
      previous_secret: null,
      previous_secret_until_at: null,
      host: null,
      headers: '{}',
      ...tlsColumns(SYSTEM_TLS),
      confirmations: 0,
      is_retracting: 0,
      alert_channel: null,
      alert_level: 0,
      deleted_at: null,
      ...channelColumns(DEFAULT_LIMITS),
      is_paused: 0,
      disabled_reason: null,
      ages_from_at: nowMs,
    })
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doUpdateSet({ deleted_at: null }))
    .returning('id')
    .executeTakeFirstOrThrow()
  // The lane's own row is locked by now, so nobody else does the same.
  await sql`
    insert into webhook_lane_state
      (lane_id, epoch, failures, refusals, next_attempt_at, cursor_seq, served_at, lease_until_at)
    select cast(${id} as bigint), 0, 0, 0, 0, 0, 0, 0
    where not exists (select 1 from webhook_lane_state where lane_id = ${id})`.execute(tx)
  await sql`
    insert into webhook_lane_counter (lane_id, next_seq, next_chunk, next_byte)
    select cast(${id} as bigint), 1, 0, 0 where not exists (select 1 from webhook_lane_counter where lane_id = ${id})`.execute(
    tx,
  )
  return id
}
