import type { LetterChoice } from '../delivery/dead-letter.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { countersUpdate, lockLane, type LaneCounters } from './lane-counters.ts'
import { lockingRows } from './lane-store-locks.ts'
import { slicesOf } from './outbox-slices.ts'
import { inTransaction } from './transaction.ts'

/** Letters that one transaction moves. */
const LETTERS_PER_STEP = 100

/** The ids of the chosen letters of a project. */
export function chosenLetters(
  db: ControlDatabase | ControlTransaction,
  projectId: number,
  { ids, channel }: LetterChoice,
) {
  return db
    .selectFrom('webhook_dead_letter')
    .select('webhook_dead_letter.id')
    .where('webhook_dead_letter.project_id', '=', projectId)
    .$if(ids !== null, (query) => query.where('webhook_dead_letter.id', 'in', ids ?? []))
    .$if(channel !== null, (query) =>
      query.where('lane_id', 'in', (eb) =>
        eb
          .selectFrom('webhook_lane')
          .select('webhook_lane.id')
          .where('webhook_lane.project_id', '=', projectId)
          .where('name', '=', channel ?? ''),
      ),
    )
}

/** Moves marked letters of every lane that has few messages waiting; answers how many messages moved (DD-4). */
export async function redriveLetters(
  db: ControlDatabase,
  messagesMax: number,
  nowMs: number,
): Promise<number> {
  const lanes = await db
    .selectFrom('webhook_dead_letter')
    .select('lane_id')
    .distinct()
    .where('redrive_at', 'is not', null)
    .execute()
  let moved = 0
  for (const { lane_id } of lanes) {
    moved += await inTransaction(db, (tx) => redriveLane(tx, lane_id, messagesMax, nowMs))
  }
  return moved
}

async function redriveLane(
  tx: ControlTransaction,
  laneId: number,
  messagesMax: number,
  nowMs: number,
): Promise<number> {
  // The lane's sequence first, as whoever enqueues does: nobody supersedes a message meanwhile.
  const counters = await lockLane(tx, laneId)
  const { count } = await tx
    .selectFrom('webhook_message')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('lane_id', '=', laneId)
    .executeTakeFirstOrThrow()
  let room = messagesMax - Number(count)
  const letters = await lockingRows(
    tx,
    tx
      .selectFrom('webhook_dead_letter')
      .select('id')
      .where('lane_id', '=', laneId)
      .where('redrive_at', 'is not', null)
      .orderBy('id')
      .limit(LETTERS_PER_STEP),
  ).execute()
  let moved = 0
  for (const { id } of letters) {
    if (room <= 0) break
    const messages = await moveLetter(tx, counters, id, nowMs)
    moved += messages
    room -= messages
  }
  if (moved > 0) await countersUpdate(tx, [counters]).execute(tx)
  return moved
}

async function moveLetter(
  tx: ControlTransaction,
  counters: LaneCounters,
  letterId: number,
  nowMs: number,
): Promise<number> {
  const messages = await tx
    .deleteFrom('webhook_dead_message')
    .where('letter_id', '=', letterId)
    .returningAll()
    .execute()
  await tx.deleteFrom('webhook_dead_letter').where('id', '=', letterId).execute()
  const current = messages.filter((row) => row.is_superseded === 0).toSorted((a, b) => a.seq - b.seq)
  const rows = current.map((row) => ({
    lane_id: counters.laneId,
    seq: counters.nextSeq++,
    event_id: row.event_id,
    version: row.version,
    chain: row.chain,
    block_number: row.block_number,
    hash: row.hash,
    body: row.body,
    body_bytes: row.body.byteLength,
    first_byte: (counters.nextByte += row.body.byteLength) - row.body.byteLength,
    enqueued_at: nowMs,
    tries: 0,
    shelved_until_at: null,
  }))
  for (const slice of slicesOf(rows)) {
    await tx
      .insertInto('webhook_message')
      .values(slice)
      .onConflict((conflict) => conflict.columns(['lane_id', 'event_id']).doNothing())
      .execute()
  }
  return rows.length
}
