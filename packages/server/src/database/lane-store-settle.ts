import { sql } from 'kysely'
import type { LaneClaim, QueuedMessage, Settled, Settlement } from '../delivery/lane.ts'
import { insertAttempt } from './attempt-store.ts'
import { headOf } from '../delivery/retraction.ts'
import type { ControlTransaction } from './database.ts'
import { lockingRows } from './lane-store-locks.ts'
import { areSettlementsKnown } from './lease-memory.ts'
import { UNKNOWN_HASH } from './outbox-retractions.ts'
import { findWaiting } from './outbox-revisions.ts'
import { slicesOf } from './outbox-slices.ts'
import { removeMessages } from './remove-messages.ts'
import { rowAddress } from './row-address.ts'

/** Applies a settlement. When the claim did not stand, only what the receiver acknowledged is recorded. */
export async function settleLane(
  tx: ControlTransaction,
  claim: LaneClaim,
  settlement: Settlement,
): Promise<Settled> {
  const isClaimStanding = await updateLane(tx, claim, settlement)
  await insertAttempt(tx, claim.laneId, settlement.attempt)
  await acknowledge(tx, claim.laneId, settlement)
  if (!isClaimStanding) {
    if (settlement.next !== 'hold') await endTakenLease(tx, claim)
    return { state: 'lost' }
  }
  await shelve(tx, claim.laneId, settlement)
  await bury(tx, claim.laneId, settlement)
  return settlement.next === null ? { state: 'released' } : { state: 'held', next: null }
}

/**
 * A change of the channel took the lane and left the lease to the attempt that was under way; it has ended. So has the lease of a
 * lane whose memory was lost in a crash.
 */
async function endTakenLease(tx: ControlTransaction, { laneId, owner, epoch }: LaneClaim): Promise<void> {
  await tx
    .updateTable('webhook_lane_state')
    .set({ owner: null, lease_until_at: 0 })
    .where('lane_id', '=', laneId)
    .where((eb) =>
      eb.or([
        eb.and([eb('owner', 'is', null), eb('epoch', '=', epoch + 1)]),
        eb.and([eb('owner', '=', owner), eb('epoch', '=', epoch)]),
      ]),
    )
    .execute()
}

async function updateLane(
  tx: ControlTransaction,
  { laneId, owner, epoch }: LaneClaim,
  { lane, fromCursorSeq, nextAttemptAt, disabledReason, next, settledAt }: Settlement,
): Promise<boolean> {
  // The channel before its state, as whoever changes a channel does.
  if (disabledReason !== null) {
    const channel = tx.selectFrom('webhook_lane').select('id').where('id', '=', laneId)
    await lockingRows(tx, channel).execute()
  }
  const { numUpdatedRows } = await tx
    .updateTable('webhook_lane_state')
    .set({
      failures: lane.failures,
      failing_since_at: lane.failingSinceAt,
      refusals: lane.refusals,
      batch_limit: lane.batchLimit,
      cursor_seq: lane.cursorSeq,
      next_attempt_at: nextAttemptAt,
      ...(next === null ? { owner: null, lease_until_at: 0, served_at: settledAt } : {}),
    })
    .where('lane_id', '=', laneId)
    .where('owner', '=', owner)
    .where('epoch', '=', epoch)
    .where('cursor_seq', '=', fromCursorSeq)
    .where(areSettlementsKnown(tx, sql.val(settledAt)))
    .executeTakeFirstOrThrow()
  const isClaimStanding = numUpdatedRows > 0n
  if (isClaimStanding && disabledReason !== null) {
    await tx
      .updateTable('webhook_lane')
      .set({ disabled_reason: disabledReason })
      .where('id', '=', laneId)
      .execute()
  }
  return isClaimStanding
}

/**
 * Removes by sequence number, so a replacement that arrived meanwhile stays. What was withdrawn and emitted again
 * unchanged while it was under way has another number; the receiver has it, so it leaves the queue as well (DL-8).
 */
async function acknowledge(
  tx: ControlTransaction,
  laneId: number,
  { acknowledged, settledAt, isRetracting }: Settlement,
): Promise<void> {
  const removed = new Set((await removeMessages(tx, laneId, seqsOf(acknowledged))).map((row) => row.seq))
  const gone = acknowledged.filter(({ seq }) => !removed.has(seq))
  const emittedAgain = gone.length === 0 ? new Set<number>() : await removeEmittedAgain(tx, laneId, gone)
  const recorded = await recordSent(tx, laneId, { acknowledged, settledAt, isRetracting })
  if (!isRetracting) return
  for (const message of gone) {
    const isOrphan = !emittedAgain.has(message.eventId) && recorded.has(message.eventId)
    if (isOrphan) await noteIfOrphan(tx, laneId, message)
  }
}

/** Takes out of the queue what equals messages that have left it meanwhile, and answers its event ids. */
async function removeEmittedAgain(
  tx: ControlTransaction,
  laneId: number,
  gone: readonly QueuedMessage[],
): Promise<ReadonlySet<number>> {
  const hashes = new Map(gone.map(({ eventId, hash }) => [eventId, hash]))
  const waiting = await findWaiting(
    tx,
    gone.map(({ eventId }) => ({ laneId, eventId })),
  )
  const equal = waiting.filter(({ eventId, hash }) => hashes.get(eventId) === hash)
  await removeMessages(
    tx,
    laneId,
    equal.map(({ seq }) => seq),
  )
  return new Set(equal.map(({ eventId }) => eventId))
}

/** Records what the receiver has, and answers the event ids of what was not recorded before, by whoever settled the same message earlier. */
async function recordSent(
  tx: ControlTransaction,
  laneId: number,
  { acknowledged, settledAt, isRetracting }: Pick<Settlement, 'acknowledged' | 'settledAt' | 'isRetracting'>,
): Promise<ReadonlySet<number>> {
  const recorded = new Set<number>()
  for (const slice of slicesOf(acknowledged.toSorted((a, b) => a.eventId - b.eventId))) {
    const rows = await tx
      .insertInto('webhook_sent')
      .values(
        slice.map((message) => ({
          lane_id: laneId,
          event_id: message.eventId,
          seq: message.seq,
          version: message.version,
          hash: message.hash,
          sent_at: settledAt,
          head: isRetracting ? headOf(message.body) : null,
        })),
      )
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
          .where((eb) =>
            eb.or([
              eb('webhook_sent.seq', '<', eb.ref('excluded.seq')),
              // Announced, and not yet known to have arrived.
              eb.and([
                eb('webhook_sent.seq', '=', eb.ref('excluded.seq')),
                eb('webhook_sent.hash', '=', UNKNOWN_HASH),
              ]),
            ]),
          ),
      )
      .returning('event_id')
      .execute()
    for (const row of rows) recorded.add(row.event_id)
  }
  return recorded
}

/** A message that was withdrawn while it was under way has reached the receiver all the same (DL-13). */
async function noteIfOrphan(tx: ControlTransaction, laneId: number, message: QueuedMessage): Promise<void> {
  const head = headOf(message.body)
  const newer = await tx
    .selectFrom('webhook_message')
    .select('seq')
    .where('lane_id', '=', laneId)
    .where('event_id', '=', message.eventId)
    .unionAll((eb) =>
      eb
        .selectFrom('webhook_held_message')
        .select('seq')
        .where('lane_id', '=', laneId)
        .where('event_id', '=', message.eventId),
    )
    .unionAll((eb) =>
      eb
        .selectFrom('webhook_sent')
        .select('seq')
        .where('lane_id', '=', laneId)
        .where('event_id', '=', message.eventId)
        .where('seq', '>', message.seq),
    )
    .execute()
  if (head === null || newer.length > 0) return
  await tx
    .insertInto('webhook_retraction')
    .values({
      lane_id: laneId,
      event_id: message.eventId,
      version: message.version,
      chain: message.chain,
      block_number: message.blockNumber,
      head,
    })
    .onConflict((conflict) => conflict.columns(['lane_id', 'event_id']).doNothing())
    .execute()
}

async function shelve(tx: ControlTransaction, laneId: number, { shelved }: Settlement): Promise<void> {
  for (const { seq, tries, untilAt } of shelved) {
    const address = rowAddress(tx, 'webhook_message')
    await sql`
      update webhook_message set tries = ${tries}, shelved_until_at = ${untilAt}
      where seq = ${seq} and ${address} = (
        select ${address} from webhook_message
        where lane_id = ${laneId} and seq between ${seq} and ${seq} order by seq limit 1)`.execute(tx)
  }
}

/** Moves messages into one dead letter (DL-5). What was replaced or withdrawn meanwhile is not among them. */
async function bury(tx: ControlTransaction, laneId: number, settlement: Settlement): Promise<void> {
  const removed = await removeMessages(tx, laneId, seqsOf(settlement.buried))
  if (removed.length === 0) return
  const { project_id } = await tx
    .selectFrom('webhook_lane')
    .select('project_id')
    .where('id', '=', laneId)
    .executeTakeFirstOrThrow()
  const { id } = await tx
    .insertInto('webhook_dead_letter')
    .values({
      project_id,
      lane_id: laneId,
      died_at: settlement.settledAt,
      attempts: settlement.attempts,
      last_status: settlement.attempt.status,
      last_error: settlement.attempt.reason,
      last_pulled_at: 0,
      redrive_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (const slice of slicesOf(removed)) {
    await tx
      .insertInto('webhook_dead_message')
      .values(slice.map((row) => ({ ...row, letter_id: id, lane_id: laneId, is_superseded: 0 })))
      .execute()
  }
}

function seqsOf(messages: readonly QueuedMessage[]): readonly number[] {
  return messages.map(({ seq }) => seq).toSorted((a, b) => a - b)
}
