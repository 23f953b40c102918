import type { Selectable } from 'kysely'
import type { Batch, LaneClaim, LaneStore, QueuedMessage } from '../delivery/lane.ts'
import type { ControlDatabase } from './database.ts'
import type { DeliveryTables } from './schema/delivery.ts'

/** A shelved message that is due, by itself; else the messages behind the cursor, as many as fit; else null. */
export async function nextBatch(
  db: ControlDatabase,
  { laneId }: LaneClaim,
  request: Parameters<LaneStore['nextBatch']>[1],
): Promise<Batch | null> {
  const due = await db
    .selectFrom('webhook_message')
    .selectAll()
    .where('lane_id', '=', laneId)
    .where('shelved_until_at', '<=', request.nowMs)
    .orderBy('shelved_until_at')
    .limit(1)
    .execute()
  if (due.length > 0) return { isShelved: true, messages: due.map(fromRow) }
  for (;;) {
    const seqs = await fittingSeqs(db, laneId, request)
    if (seqs.length === 0) return null
    const rows = await db
      .selectFrom('webhook_message')
      .selectAll()
      .where('lane_id', '=', laneId)
      .where('seq', 'in', seqs)
      .orderBy('seq')
      .execute()
    // Between the two reads everything may have been withdrawn or replaced: then look again.
    if (rows.length > 0) return { isShelved: false, messages: rows.map(fromRow) }
  }
}

/**
 * The first messages behind the cursor that fit into one request; at least one. By their recorded sizes, because the
 * bodies of a hundred messages of 5 MiB would be read only to be left out.
 */
async function fittingSeqs(
  db: ControlDatabase,
  laneId: number,
  { afterSeq, maxMessages, maxBytes }: Parameters<LaneStore['nextBatch']>[1],
): Promise<readonly number[]> {
  const sizes = await db
    .selectFrom('webhook_message')
    .select(['seq', 'body_bytes'])
    .where('lane_id', '=', laneId)
    .where('seq', '>', afterSeq)
    .where('shelved_until_at', 'is', null)
    .orderBy('seq')
    .limit(maxMessages)
    .execute()
  const seqs: number[] = []
  let arrayBytes = 1
  for (const { seq, body_bytes } of sizes) {
    arrayBytes += body_bytes + 1
    if (seqs.length > 0 && arrayBytes > maxBytes) break
    seqs.push(seq)
  }
  return seqs
}

function fromRow(row: Selectable<DeliveryTables['webhook_message']>): QueuedMessage {
  return {
    seq: row.seq,
    eventId: row.event_id,
    version: row.version,
    chain: row.chain,
    blockNumber: row.block_number,
    hash: row.hash,
    body: row.body,
    enqueuedAt: row.enqueued_at,
    tries: row.tries,
  }
}
