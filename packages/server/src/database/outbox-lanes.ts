import { sql } from 'kysely'
import { DEFAULT_LIMITS, SYSTEM_TLS } from '../delivery/channel.ts'
import { channelColumns, tlsColumns } from './channel-store-row.ts'
import type { ControlTransaction } from './database.ts'
import { givenRows } from './given-rows.ts'
import { hasRowLocks } from './lane-store-locks.ts'

/** A lane as ingest sees it. */
export interface OutboxLane {
  readonly id: number
  readonly name: string
  readonly isConfigured: boolean
  /** DL-13. */
  readonly confirmations: number
  readonly isRetracting: boolean
}

/** The lanes of the named channels; those that do not exist yet are created without an address (IN-7). */
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
  return lanes.map(({ id, name, url, confirmations, is_retracting }) => ({
    id,
    name,
    isConfigured: url !== null,
    confirmations,
    isRetracting: is_retracting === 1,
  }))
}

function findLanes(tx: ControlTransaction, projectId: number, names: readonly string[]) {
  return tx
    .selectFrom('webhook_lane')
    .select(['id', 'name', 'url', 'deleted_at', 'confirmations', 'is_retracting'])
    .where('project_id', '=', projectId)
    .where('name', 'in', names)
    .orderBy('id')
    .execute()
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
      failures: 0,
      failing_since_at: null,
      refusals: 0,
      batch_limit: null,
      next_attempt_at: 0,
      cursor_seq: 0,
      served_at: 0,
      owner: null,
      epoch: 0,
      lease_until_at: 0,
    })
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doUpdateSet({ deleted_at: null }))
    .returning('id')
    .executeTakeFirstOrThrow()
  await tx
    .insertInto('webhook_lane_sequence')
    .values({ lane_id: id, next_seq: 1, next_chunk: 0 })
    .onConflict((conflict) => conflict.column('lane_id').doNothing())
    .execute()
  return id
}

/**
 * Reserves `count` sequence numbers and answers the first. Keeps the lane's row locked until the transaction ends,
 * so that the order of the numbers is the order of the commits and no reader's cursor passes one that comes later.
 */
export async function reserveSequence(
  tx: ControlTransaction,
  laneId: number,
  count: number,
): Promise<number> {
  const { next_seq } = await tx
    .updateTable('webhook_lane_sequence')
    .set((eb) => ({ next_seq: eb('next_seq', '+', count) }))
    .where('lane_id', '=', laneId)
    .returning('next_seq')
    .executeTakeFirstOrThrow()
  return next_seq - count
}

/**
 * {@link reserveSequence} for several lanes: how many numbers each gets, in order of lanes, and the first of each. Locks them in
 * order of their ids, as everybody does.
 */
export async function reserveSequences(
  tx: ControlTransaction,
  counts: readonly { readonly laneId: number; readonly count: number }[],
): Promise<ReadonlyMap<number, number>> {
  const given = givenRows(
    tx,
    { lane_id: 'bigint', count: 'bigint' },
    counts.map(({ laneId, count }) => [laneId, count]),
  )
  const locked = hasRowLocks(tx)
    ? sql`
      select given.* from ${given} as given join webhook_lane_sequence as sequence on sequence.lane_id = given.lane_id
      order by sequence.lane_id for update of sequence`
    : sql`select given.* from ${given} as given`
  const { rows } = await sql<{ lane_id: number; next_seq: number }>`
    with locked as materialized (${locked})
    update webhook_lane_sequence set next_seq = webhook_lane_sequence.next_seq + locked.count
    from locked where webhook_lane_sequence.lane_id = locked.lane_id
    returning webhook_lane_sequence.lane_id, webhook_lane_sequence.next_seq`.execute(tx)
  const nextSeqs = new Map(rows.map((row) => [row.lane_id, row.next_seq]))
  return new Map(
    counts.map(({ laneId, count }) => {
      const nextSeq = nextSeqs.get(laneId)
      if (nextSeq === undefined) throw new Error(`lane ${laneId} has no sequence`)
      return [laneId, nextSeq - count]
    }),
  )
}

/** Counts bytes that join the queues of lanes, whose rows the caller has locked; answers how many had joined each before. */
export async function reserveBytes(
  tx: ControlTransaction,
  bytes: ReadonlyMap<number, number>,
): Promise<ReadonlyMap<number, number>> {
  const given = givenRows(tx, { lane_id: 'bigint', bytes: 'bigint' }, [...bytes])
  const { rows } = await sql<{ lane_id: number; next_byte: number }>`
    update webhook_lane_sequence set next_byte = webhook_lane_sequence.next_byte + given.bytes
    from ${given} as given where webhook_lane_sequence.lane_id = given.lane_id
    returning webhook_lane_sequence.lane_id, webhook_lane_sequence.next_byte`.execute(tx)
  return new Map(rows.map((row) => [row.lane_id, row.next_byte - (bytes.get(row.lane_id) ?? 0)]))
}
