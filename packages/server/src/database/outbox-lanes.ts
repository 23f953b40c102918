import { DEFAULT_LIMITS, SYSTEM_TLS } from '../delivery/channel.ts'
import { channelColumns, tlsColumns } from './channel-store-row.ts'
import type { ControlTransaction } from './database.ts'

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
