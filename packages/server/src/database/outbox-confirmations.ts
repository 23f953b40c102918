import type { ChainHead } from '../delivery/chain-head.ts'
import type { ProjectVersion } from '../ingest/batch.ts'
import type { ControlTransaction } from './database.ts'
import { lockCounters, lockLane } from './lane-counters.ts'
import { findWaiting, storeJoining, type Revision } from './outbox-revisions.ts'
import { slicesOf } from './outbox-slices.ts'
import { removeMessages } from './remove-messages.ts'

/** A lane in which messages, or retractions, wait for blocks. */
export interface LaneBehindHeads {
  readonly id: number
  readonly confirmations: number
  readonly is_retracting: number
}

/**
 * Notes how far the chains have come. Answers the lanes in which something waits for that (DL-13), their counters locked together with those of the
 * named channels. Costs one look-up in a project without such lanes.
 */
export async function passHeads(
  tx: ControlTransaction,
  { projectId, version }: ProjectVersion,
  heads: readonly ChainHead[],
  names: readonly string[],
): Promise<readonly LaneBehindHeads[]> {
  if (heads.length === 0) return []
  const lanes = await tx
    .selectFrom('webhook_lane')
    .select(['id', 'confirmations', 'is_retracting'])
    .where('project_id', '=', projectId)
    .where((eb) => eb.or([eb('confirmations', '>', 0), eb('is_retracting', '=', 1)]))
    .orderBy('id')
    .execute()
  if (lanes.length === 0) return []
  // In order of chains, as everybody locks them.
  const ordered = heads.toSorted((one, other) => (one.chain < other.chain ? -1 : 1))
  for (const slice of slicesOf(ordered)) {
    await tx
      .insertInto('webhook_chain_head')
      .values(
        slice.map(({ chain, blockNumber }) => ({
          project_id: projectId,
          version,
          chain,
          block_number: blockNumber,
        })),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['project_id', 'version', 'chain'])
          .doUpdateSet((eb) => ({ block_number: eb.ref('excluded.block_number') }))
          .whereRef('webhook_chain_head.block_number', '<', 'excluded.block_number'),
      )
      .execute()
  }
  const laneIds = new Set(lanes.map(({ id }) => id))
  for (const slice of slicesOf(names)) {
    const named = await tx
      .selectFrom('webhook_lane')
      .select('id')
      .where('project_id', '=', projectId)
      .where('name', 'in', slice)
      .execute()
    for (const { id } of named) laneIds.add(id)
  }
  await lockCounters(tx, [...laneIds])
  return lanes
}

/** After a rollback the chain has come only so far. */
export async function rewindHead(
  tx: ControlTransaction,
  {
    projectId,
    version,
    chain,
    aboveBlock,
  }: ProjectVersion & { readonly chain: string; readonly aboveBlock: number },
): Promise<void> {
  await tx
    .updateTable('webhook_chain_head')
    .set({ block_number: aboveBlock })
    .where('project_id', '=', projectId)
    .where('version', '=', version)
    .where('chain', '=', chain)
    .where('block_number', '>', aboveBlock)
    .execute()
}

/** Keeps revisions back until their blocks are deep enough; an older one that waits in the queue gives way (DL-8, DL-13). */
export async function holdMessages(
  tx: ControlTransaction,
  laneId: number,
  revisions: readonly Revision[],
  nowMs: number,
): Promise<void> {
  for (const slice of slicesOf(revisions)) {
    const eventIds = slice.map(({ eventId }) => eventId)
    const waiting = await findWaiting(tx, slice)
    await removeMessages(
      tx,
      laneId,
      waiting.map(({ seq }) => seq),
    )
    await tx
      .deleteFrom('webhook_held_message')
      .where('lane_id', '=', laneId)
      .where('event_id', 'in', eventIds)
      .execute()
    await tx
      .insertInto('webhook_held_message')
      .values(
        slice.map((revision) => ({
          lane_id: laneId,
          event_id: revision.eventId,
          version: revision.version,
          chain: revision.chain,
          block_number: revision.blockNumber,
          seq: revision.seq,
          hash: revision.hash,
          body: revision.body,
          held_at: nowMs,
        })),
      )
      .execute()
  }
}

/** Moves the held messages of a lane whose blocks are deep enough by now into its queue, in order of arrival. */
export async function releaseConfirmed(tx: ControlTransaction, laneId: number, nowMs: number): Promise<void> {
  const counters = await lockLane(tx, laneId)
  const confirmed = await tx
    .selectFrom('webhook_held_message as held')
    .innerJoin('webhook_lane as lane', 'lane.id', 'held.lane_id')
    .leftJoin('webhook_chain_head as head', (join) =>
      join
        .onRef('head.project_id', '=', 'lane.project_id')
        .onRef('head.version', '=', 'held.version')
        .onRef('head.chain', '=', 'held.chain'),
    )
    .selectAll('held')
    .where('held.lane_id', '=', laneId)
    .where((eb) =>
      eb.or([
        eb('lane.confirmations', '=', 0),
        eb('head.block_number', '>=', eb('held.block_number', '+', eb.ref('lane.confirmations'))),
      ]),
    )
    .orderBy('held.seq')
    .execute()
  if (confirmed.length === 0) return
  for (const slice of slicesOf(confirmed)) {
    await tx
      .deleteFrom('webhook_held_message')
      .where('lane_id', '=', laneId)
      .where(
        'event_id',
        'in',
        slice.map((row) => row.event_id),
      )
      .execute()
  }
  const revisions = confirmed.map((row) => ({
    laneId,
    seq: counters.nextSeq++,
    eventId: row.event_id,
    version: row.version,
    hash: row.hash,
    chain: row.chain,
    blockNumber: row.block_number,
    body: row.body,
  }))
  await storeJoining(tx, { revisions, counters: [counters], records: [] }, nowMs)
}
