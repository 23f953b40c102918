import type { ControlTransaction } from './database.ts'
import { lockingRows } from './lane-store-locks.ts'
import { slicesOf } from './outbox-slices.ts'

/** A serialised message that may be new to its lane or override an earlier one. */
export interface Revision {
  readonly seq: number
  readonly eventId: number
  readonly version: number
  readonly hash: string
  readonly chain: string
  readonly blockNumber: number
  readonly body: Uint8Array
}

/** What a lane knows of an event id: the revision that waits, the one that was acknowledged, the one that died. */
interface KnownRevision {
  readonly event_id: number
  readonly version: number
  readonly hash: string
}

/**
 * Leaves out what DL-8 leaves out: a revision of a lower version than one that is known, and one that equals what
 * waits or, when nothing waits, what the receiver has.
 */
export async function rejectOlderRevisions(
  tx: ControlTransaction,
  laneId: number,
  revisions: readonly Revision[],
): Promise<readonly Revision[]> {
  const accepted: Revision[] = []
  for (const slice of slicesOf(revisions)) {
    const ids = slice.map((revision) => revision.eventId)
    // Waiting before sent: a message that is acknowledged between the two reads is then seen as sent.
    const waiting = byEventId(await findWaiting(tx, laneId, ids))
    const sent = byEventId(
      await tx
        .selectFrom('webhook_sent')
        .select(['event_id', 'version', 'hash'])
        .where('lane_id', '=', laneId)
        .where('event_id', 'in', ids)
        .execute(),
    )
    const dead = byEventId(
      await tx
        .selectFrom('webhook_dead_message')
        .select(['event_id', 'version', 'hash'])
        .where('lane_id', '=', laneId)
        .where('event_id', 'in', ids)
        .where('is_superseded', '=', 0)
        .execute(),
    )
    const held = byEventId(
      await tx
        .selectFrom('webhook_held_message')
        .select(['event_id', 'version', 'hash'])
        .where('lane_id', '=', laneId)
        .where('event_id', 'in', ids)
        .execute(),
    )
    for (const revision of slice) {
      const known = [held, waiting, sent, dead].map((revisions) => revisions.get(revision.eventId))
      const isOlder = known.some((other) => other !== undefined && other.version > revision.version)
      const current =
        held.get(revision.eventId) ??
        waiting.get(revision.eventId) ??
        (dead.has(revision.eventId) ? undefined : sent.get(revision.eventId))
      if (!isOlder && current?.hash !== revision.hash) accepted.push(revision)
    }
  }
  return accepted
}

function findWaiting(
  tx: ControlTransaction,
  laneId: number,
  ids: readonly number[],
): Promise<readonly KnownRevision[]> {
  return lockingRows(
    tx,
    tx
      .selectFrom('webhook_message')
      .select(['event_id', 'version', 'hash'])
      .where('lane_id', '=', laneId)
      .where('event_id', 'in', ids)
      .orderBy('seq'),
  ).execute()
}

/** Stores revisions; one that waits already is replaced in place, behind everything that arrived before (DL-8). */
export async function upsertMessages(
  tx: ControlTransaction,
  laneId: number,
  revisions: readonly Revision[],
  nowMs: number,
): Promise<void> {
  for (const slice of slicesOf(revisions)) {
    await tx
      .insertInto('webhook_message')
      .values(
        slice.map((revision) => ({
          lane_id: laneId,
          seq: revision.seq,
          event_id: revision.eventId,
          version: revision.version,
          chain: revision.chain,
          block_number: revision.blockNumber,
          hash: revision.hash,
          body: revision.body,
          body_bytes: revision.body.byteLength,
          enqueued_at: nowMs,
          tries: 0,
          shelved_until_at: null,
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['lane_id', 'event_id']).doUpdateSet((eb) => ({
          seq: eb.ref('excluded.seq'),
          version: eb.ref('excluded.version'),
          hash: eb.ref('excluded.hash'),
          body: eb.ref('excluded.body'),
          body_bytes: eb.ref('excluded.body_bytes'),
          enqueued_at: eb.ref('excluded.enqueued_at'),
          tries: 0,
          shelved_until_at: null,
        })),
      )
      .execute()
  }
}

/** Takes older revisions out of the dead letters (DL-8). */
export async function supersedeDead(
  tx: ControlTransaction,
  laneId: number,
  eventIds: readonly number[],
): Promise<void> {
  for (const ids of slicesOf(eventIds)) {
    await tx
      .updateTable('webhook_dead_message')
      .set({ is_superseded: 1 })
      .where('lane_id', '=', laneId)
      .where('event_id', 'in', ids)
      .where('is_superseded', '=', 0)
      .execute()
  }
}

function byEventId(rows: readonly KnownRevision[]): ReadonlyMap<number, KnownRevision> {
  return new Map(rows.map((row) => [row.event_id, row]))
}
