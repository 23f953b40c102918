import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { CHUNK_IDS } from '../delivery/event-id.ts'
import { serializeRetraction } from '../delivery/retraction.ts'
import type { ControlTransaction } from './database.ts'
import { lockLane } from './lane-counters.ts'
import { storeJoining } from './outbox-revisions.ts'
import { slicesOf } from './outbox-slices.ts'

/** Of what a receiver may have, or may not; equal to no revision. */
export const UNKNOWN_HASH = ''

/** Notes the delivered messages of rolled-back blocks, to be retracted unless they are emitted again (DL-13). */
export async function noteOrphans(
  tx: ControlTransaction,
  laneId: number,
  {
    version,
    chain,
    aboveBlock,
  }: { readonly version: number; readonly chain: string; readonly aboveBlock: number },
): Promise<void> {
  await tx
    .insertInto('webhook_retraction')
    .columns(['lane_id', 'event_id', 'version', 'chain', 'block_number', 'head'])
    .expression((eb) =>
      eb
        .selectFrom('webhook_event_id as chunk')
        .innerJoin('webhook_sent as sent', (join) =>
          join
            .onRef('sent.lane_id', '=', 'chunk.lane_id')
            .on((on) =>
              on('sent.event_id', '>', sql<number>`${on.ref('chunk.id_chunk')} * ${sql.lit(CHUNK_IDS)}`),
            )
            .on((on) =>
              on(
                'sent.event_id',
                '<=',
                sql<number>`(${on.ref('chunk.id_chunk')} + 1) * ${sql.lit(CHUNK_IDS)}`,
              ),
            ),
        )
        .select(['sent.lane_id', 'sent.event_id', sql.lit(version).as('version')])
        .select(['chunk.chain', 'chunk.block_number'])
        .select((eb) => eb.ref('sent.head').$notNull().as('head'))
        .where('chunk.lane_id', '=', laneId)
        .where('chunk.chain', '=', chain)
        .where('chunk.block_number', '>', aboveBlock)
        // What an older version sent, too: the revision that was to replace it may have been withdrawn just now.
        .where('sent.version', '<=', version)
        .where('sent.head', 'is not', null),
    )
    .onConflict((conflict) => conflict.columns(['lane_id', 'event_id']).doNothing())
    .execute()
}

/** What is emitted again is no orphan, changed or not. */
export async function forgetOrphans(
  tx: ControlTransaction,
  laneId: number,
  eventIds: readonly number[],
): Promise<void> {
  for (const ids of slicesOf(eventIds)) {
    await tx
      .deleteFrom('webhook_retraction')
      .where('lane_id', '=', laneId)
      .where('event_id', 'in', ids)
      .execute()
  }
}

/** Announces the orphans of blocks that the chain has passed again: they will not be emitted any more (DL-13). */
export async function retractOrphans(tx: ControlTransaction, laneId: number, nowMs: number): Promise<void> {
  const counters = await lockLane(tx, laneId)
  const orphans = await tx
    .selectFrom('webhook_retraction as orphan')
    .innerJoin('webhook_lane as lane', 'lane.id', 'orphan.lane_id')
    .innerJoin('webhook_chain_head as passed', (join) =>
      join
        .onRef('passed.project_id', '=', 'lane.project_id')
        .onRef('passed.version', '>=', 'orphan.version')
        .onRef('passed.chain', '=', 'orphan.chain')
        .onRef('passed.block_number', '>', 'orphan.block_number'),
    )
    .selectAll('orphan')
    .distinct()
    .where('orphan.lane_id', '=', laneId)
    .orderBy('orphan.event_id')
    .execute()
  if (orphans.length === 0) return
  await forgetOrphans(
    tx,
    laneId,
    orphans.map((row) => row.event_id),
  )
  const revisions = orphans.map((row) => {
    const body = serializeRetraction(row.head)
    return {
      laneId,
      seq: counters.nextSeq++,
      eventId: row.event_id,
      version: row.version,
      hash: hash('sha256', body, 'base64url'),
      chain: row.chain,
      blockNumber: row.block_number,
      body,
    }
  })
  await storeJoining(tx, { revisions, counters: [counters], records: [] }, nowMs)
}
