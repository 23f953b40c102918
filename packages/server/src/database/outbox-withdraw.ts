import type { ControlTransaction } from './database.ts'
import { lockLane } from './lane-counters.ts'
import { lockingRows } from './lane-store-locks.ts'
import { rewindHead } from './outbox-confirmations.ts'
import { noteOrphans, UNKNOWN_HASH } from './outbox-retractions.ts'
import { slicesOf } from './outbox-slices.ts'

/** What a rollback takes back: everything of a processor version on a chain above a block (IN-3). */
export interface Withdrawal {
  readonly projectId: number
  readonly version: number
  readonly chain: string
  readonly aboveBlock: number
}

/**
 * Removes pending exports of rolled-back blocks, and lets positions by arrival start anew there. Delivered ones are
 * overridden when the block is processed again (EV-1). Answers how many messages will not be sent.
 */
export async function withdrawExports(
  tx: ControlTransaction,
  { projectId, version, chain, aboveBlock }: Withdrawal,
): Promise<number> {
  const lanes = await tx
    .selectFrom('webhook_lane')
    .select(['id', 'is_retracting'])
    .where('project_id', '=', projectId)
    .orderBy('id')
    .execute()
  let count = 0
  await rewindHead(tx, { projectId, version, chain, aboveBlock })
  for (const { id, is_retracting } of lanes) {
    await lockLane(tx, id)
    const withdrawn = await tx
      .deleteFrom('webhook_message')
      .where('lane_id', '=', id)
      .where(
        'seq',
        'in',
        lockingRows(
          tx,
          tx
            .selectFrom('webhook_message')
            .select('seq')
            .where('lane_id', '=', id)
            .where('version', '=', version)
            .where('chain', '=', chain)
            .where('block_number', '>', aboveBlock)
            .orderBy('seq'),
        ),
      )
      .returning('event_id')
      .execute()
    const held = await tx
      .deleteFrom('webhook_held_message')
      .where('lane_id', '=', id)
      .where('version', '=', version)
      .where('chain', '=', chain)
      .where('block_number', '>', aboveBlock)
      .executeTakeFirstOrThrow()
    count += withdrawn.length + Number(held.numDeletedRows)
    await forgetSent(
      tx,
      id,
      withdrawn.map((row) => row.event_id),
    )
    // Nor is it pulled or sent again, if it died before.
    await tx
      .updateTable('webhook_dead_message')
      .set({ is_superseded: 1 })
      .where('lane_id', '=', id)
      .where('version', '=', version)
      .where('chain', '=', chain)
      .where('block_number', '>', aboveBlock)
      .where('is_superseded', '=', 0)
      .execute()
    if (is_retracting === 1) await noteOrphans(tx, id, { version, chain, aboveBlock })
    await tx
      .deleteFrom('webhook_arrival')
      .where('lane_id', '=', id)
      .where('version', '=', version)
      .where('chain', '=', chain)
      .where('block_number', '>', aboveBlock)
      .execute()
  }
  return count
}

/**
 * A withdrawn override may have reached the receiver all the same, if it was under way. What the receiver has is
 * unknown then, so the next revision is sent even if it equals what was acknowledged before.
 */
async function forgetSent(
  tx: ControlTransaction,
  laneId: number,
  eventIds: readonly number[],
): Promise<void> {
  for (const ids of slicesOf(eventIds)) {
    await tx
      .updateTable('webhook_sent')
      .set({ hash: UNKNOWN_HASH })
      .where('lane_id', '=', laneId)
      .where(
        'event_id',
        'in',
        lockingRows(
          tx,
          tx
            .selectFrom('webhook_sent')
            .select('event_id')
            .where('lane_id', '=', laneId)
            .where('event_id', 'in', ids)
            .orderBy('event_id'),
        ),
      )
      .execute()
  }
}
