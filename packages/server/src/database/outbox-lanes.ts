import { sql } from 'kysely'
import { DEFAULT_LIMITS, SYSTEM_TLS } from '../delivery/channel.ts'
import type { ExportedMessage } from '../delivery/message.ts'
import { channelColumns, tlsColumns, type ChannelRow } from './channel-store-row.ts'
import type { ControlTransaction } from './database.ts'
import { hasRowLocks } from './lane-store-locks.ts'
import { givenRows } from './given-rows.ts'
import {
  COUNTER_COLUMNS,
  countersFromRow,
  joinCounters,
  newestChunk,
  type CounterRow,
  type LaneCounters,
} from './lane-counters.ts'
import { idChunksOf, placedChunks, serializeChunks, type ReadChunk } from './outbox-event-ids.ts'

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
  /** What it has of the chunks that its messages need, as far as that was read with the lock. */
  readonly chunks: readonly ReadChunk[]
}

/**
 * The lanes of messages by the names of their channels, in order of their ids, with their counters locked; those that do not exist yet are
 * created without an address (IN-7).
 */
export async function findOrCreateLanes(
  tx: ControlTransaction,
  projectId: number,
  byChannel: ReadonlyMap<string, readonly ExportedMessage[]>,
  nowMs: number,
): Promise<readonly OutboxLane[]> {
  const wanted = new Map([...byChannel].map(([name, messages]) => [name, placedChunks(messages)]))
  const given = [...wanted].map(([name, chunks]): readonly [string, string] => [
    name,
    serializeChunks(chunks),
  ])
  const known = await findLanes(tx, projectId, given)
  const isAlive = new Set(known.filter((lane) => lane.deleted_at === null).map((lane) => lane.name))
  // In order of names: two that create the same ones do not wait in a circle.
  const missing = [...wanted.keys()].filter((name) => !isAlive.has(name)).toSorted()
  for (const name of missing) await createLane(tx, projectId, name, nowMs)
  const lanes = missing.length === 0 ? known : await findLanes(tx, projectId, given)
  return lanes.map((row) => ({
    id: row.lane_id,
    name: row.name,
    isConfigured: row.url !== null,
    confirmations: row.confirmations,
    isRetracting: row.is_retracting === 1,
    counters: countersFromRow(row),
    chunks: chunksFromRow(row, wanted.get(row.name) ?? []),
  }))
}

/**
 * The chunks of a lane that were read by the statement that locked its counters, whose snapshot may be older than the lock: somebody who held it
 * until then may have recorded others. None, if so.
 */
function chunksFromRow(
  row: FoundLane,
  wanted: readonly Omit<ReadChunk, 'laneId' | 'idChunk'>[],
): readonly ReadChunk[] {
  if (row.next_chunk !== row.next_chunk_read) return []
  const idChunks = JSON.parse(row.id_chunks ?? '[]') as readonly (number | null)[]
  return wanted.map((chunk, index) => ({ ...chunk, laneId: row.lane_id, idChunk: idChunks[index] ?? null }))
}

type FoundLane = CounterRow &
  Pick<ChannelRow, 'name' | 'url' | 'deleted_at' | 'confirmations' | 'is_retracting'> & {
    /** As the statement saw it that waited for the lock. */
    readonly next_chunk_read: number
    readonly id_chunks: string | null
  }

async function findLanes(
  tx: ControlTransaction,
  projectId: number,
  channels: readonly (readonly [name: string, chunks: string])[],
): Promise<readonly FoundLane[]> {
  const given = givenRows(tx, { name: 'text', chunks: 'text' }, channels)
  const isNamed = sql`channel.project_id = ${projectId} and channel.name = given.name`
  // Each by its name, and not in the order of an index, which would be read as a whole for the sake of it.
  const found = hasRowLocks(tx)
    ? sql`${given} as given cross join lateral (
        select * from webhook_lane as channel where ${isNamed} offset 0) as channel order by channel.id`
    : sql`${given} as given cross join webhook_lane as channel where ${isNamed} order by channel.id + 0`
  const laneId = sql<number>`lane.id`
  const { rows } = await sql<FoundLane>`
    select lane.name, lane.url, lane.deleted_at, lane.confirmations, lane.is_retracting, ${COUNTER_COLUMNS},
      ${newestChunk(laneId)} as next_chunk_read, ${idChunksOf(tx, laneId, sql<string>`lane.chunks`)} as id_chunks
    from (select channel.*, given.chunks from ${found}) as lane
    ${joinCounters(tx, laneId)}`.execute(tx)
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
