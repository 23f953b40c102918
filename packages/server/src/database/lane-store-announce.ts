import type { QueuedMessage } from '../delivery/lane.ts'
import { headOf } from '../delivery/retraction.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { lockingRows } from './lane-store-locks.ts'
import { UNKNOWN_HASH } from './outbox-retractions.ts'
import { slicesOf } from './outbox-slices.ts'
import { inTransaction } from './transaction.ts'

/**
 * Notes that a receiver may have messages that it has not acknowledged: if the answer is lost and the block is rolled
 * back then, they are retracted like any other (DL-13). A retraction is not noted, so that one that failed and was
 * withdrawn is made again. Together with the look whether they still wait, so that no rollback comes between.
 */
export function announce(
  db: ControlDatabase,
  laneId: number,
  messages: readonly QueuedMessage[],
  nowMs: number,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    if (!(await doAllWait(tx, laneId, messages))) return false
    await noteAnnounced(tx, laneId, messages, nowMs)
    return true
  })
}

async function doAllWait(
  tx: ControlTransaction,
  laneId: number,
  messages: readonly QueuedMessage[],
): Promise<boolean> {
  const [first, last] = [messages.at(0)?.seq ?? 0, messages.at(-1)?.seq ?? 0]
  const rows = await lockingRows(
    tx,
    tx
      .selectFrom('webhook_message')
      .select('seq')
      .where('lane_id', '=', laneId)
      .where('seq', '>=', first)
      .where('seq', '<=', last)
      .orderBy('seq'),
  ).execute()
  const waiting = new Set(rows.map(({ seq }) => seq))
  return messages.every(({ seq }) => waiting.has(seq))
}

async function noteAnnounced(
  tx: ControlTransaction,
  laneId: number,
  messages: readonly QueuedMessage[],
  nowMs: number,
): Promise<void> {
  const rows = messages.map((message) => ({
    lane_id: laneId,
    event_id: message.eventId,
    seq: message.seq,
    version: message.version,
    hash: UNKNOWN_HASH,
    sent_at: nowMs,
    head: headOf(message.body),
  }))
  const noted = rows.filter(({ head }) => head !== null).toSorted((a, b) => a.event_id - b.event_id)
  for (const slice of slicesOf(noted)) {
    await tx
      .insertInto('webhook_sent')
      .values(slice)
      .onConflict((conflict) =>
        conflict
          .columns(['lane_id', 'event_id'])
          .doUpdateSet((eb) => ({
            seq: eb.ref('excluded.seq'),
            version: eb.ref('excluded.version'),
            hash: eb.ref('excluded.hash'),
            sent_at: eb.ref('excluded.sent_at'),
            head: eb.ref('excluded.head'),
          }))
          .whereRef('webhook_sent.seq', '<', 'excluded.seq'),
      )
      .execute()
  }
}
