import type { Batch, LaneClaim, LaneStore, QueuedMessage } from '../delivery/lane.ts'
import type { ControlDatabase } from './database.ts'
import { isBehindCursor } from './lane-queue.ts'

/** A {@link QueuedMessage} as the database names its parts; nothing is left to do for each row. */
const COLUMNS = [
  'seq',
  'event_id as eventId',
  'version',
  'chain',
  'block_number as blockNumber',
  'hash',
  'body',
  'enqueued_at as enqueuedAt',
  'tries',
] as const satisfies readonly (keyof QueuedMessage | `${string} as ${keyof QueuedMessage}`)[]

/** A shelved message that is due, by itself; else the messages behind the cursor, as many as fit; else null. */
export async function nextBatch(
  db: ControlDatabase,
  { laneId }: LaneClaim,
  { nowMs, ...request }: Parameters<LaneStore['nextBatch']>[1],
): Promise<Batch | null> {
  const due = await db
    .selectFrom('webhook_message')
    .select(COLUMNS)
    .where('lane_id', '=', laneId)
    .where('shelved_until_at', '<=', nowMs)
    .orderBy('shelved_until_at')
    .limit(1)
    .execute()
  if (due.length > 0) return { isShelved: true, messages: due }
  for (;;) {
    const range = await fittingRange(db, laneId, request)
    if (range === null) return null
    const rows = await db
      .selectFrom('webhook_message')
      .select(COLUMNS)
      .where('lane_id', '=', laneId)
      .where('seq', '>=', range.firstSeq)
      .where('seq', '<=', range.lastSeq)
      .where('shelved_until_at', 'is', null)
      .orderBy('seq')
      .execute()
    // Between the two reads everything may have been withdrawn or replaced: then look again.
    if (rows.length > 0) return { isShelved: false, messages: rows }
  }
}

/**
 * From where to where the messages behind the cursor fit into one request; at least one. By their recorded sizes,
 * because the bodies of a hundred messages of 5 MiB would be read only to be left out.
 */
async function fittingRange(
  db: ControlDatabase,
  laneId: number,
  { afterSeq, maxMessages, maxBytes }: Omit<Parameters<LaneStore['nextBatch']>[1], 'nowMs'>,
): Promise<{ readonly firstSeq: number; readonly lastSeq: number } | null> {
  const first = db
    .selectFrom('webhook_message')
    .select(['lane_id', 'seq', 'body_bytes'])
    .where(isBehindCursor(laneId, afterSeq))
    .orderBy('lane_id')
    .orderBy('seq')
    .limit(maxMessages)
  const sizes = await db
    .selectFrom(first.as('first'))
    .select(['seq', 'body_bytes'])
    .where('lane_id', '=', laneId)
    .orderBy('seq')
    .execute()
  const [start] = sizes
  if (start === undefined) return null
  let lastSeq = start.seq
  let arrayBytes = 1
  for (const { seq, body_bytes } of sizes) {
    arrayBytes += body_bytes + 1
    if (seq !== start.seq && arrayBytes > maxBytes) break
    lastSeq = seq
  }
  return { firstSeq: start.seq, lastSeq }
}
