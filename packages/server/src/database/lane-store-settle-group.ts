import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { LaneClaim, Settled, Settlement } from '../delivery/lane.ts'
import { attemptsInsert } from './attempt-store.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { givenRows } from './given-rows.ts'
import { firstDueAt, waitsBehind } from './lane-queue.ts'
import { joinState } from './lane-states.ts'
import { LANES_READ_TOGETHER, nextBatches } from './lane-store-batch.ts'
import { rowAddress } from './row-address.ts'

/** A settlement on its way. */
export interface ClaimedSettlement {
  readonly claim: LaneClaim
  readonly settlement: Settlement
}

/** True for a settlement that takes acknowledged messages out of the queue or makes the lane wait, and no more, as nearly all do. */
export function isPlain({ settlement }: ClaimedSettlement): boolean {
  const { acknowledged, buried, shelved, isRetracting, disabledReason } = settlement
  return (
    buried.length === 0 &&
    shelved.length === 0 &&
    disabledReason === null &&
    (acknowledged.length === 0 || !isRetracting)
  )
}

/**
 * Applies plain settlements of several lanes with as many statements as one would take, reads what goes next, and gives lanes
 * back in which nothing does; on SQLite. Null when one of them met what it did not expect: a claim that does not stand any more, or a
 * message that was replaced or withdrawn meanwhile. Then the transaction is to be rolled back and each is to be settled by itself.
 */
export async function settlePlain(
  tx: ControlTransaction,
  settlements: readonly ClaimedSettlement[],
): Promise<SettledGroup | null> {
  const { rows } = await lanesUpdate(tx, settlements).execute(tx)
  if (rows.length !== settlements.length) return null
  if ((await recordAndRemove(tx, settlements)) !== countMessages(settlements)) return null
  await attemptsInsert(tx, attemptsOf(settlements)).execute(tx)
  const held = new Set(rows.flatMap(({ id, owner }) => (owner === null ? [] : [id])))
  const next = await readNext(
    tx,
    settlements.filter(({ claim }) => held.has(claim.laneId)),
  )
  return settledGroup(settlements, rows, next)
}

/** What goes next in those of the lanes that may go on. */
export function readNext(
  db: ControlDatabase | ControlTransaction,
  settlements: readonly ClaimedSettlement[],
): ReturnType<typeof nextBatches> {
  const requests = settlements.flatMap(({ claim: { laneId }, settlement: { next } }) =>
    next === null ? [] : [{ laneId, ...next }],
  )
  return nextBatches(db, requests.slice(0, LANES_READ_TOGETHER))
}

/** What came of each of a group. */
export type SettledGroup = ReadonlyMap<ClaimedSettlement, Settled>

/** That, from the lanes as they were updated and what goes next in them. */
export function settledGroup(
  settlements: readonly ClaimedSettlement[],
  lanes: readonly UpdatedLane[],
  batches: Awaited<ReturnType<typeof nextBatches>>,
): SettledGroup {
  const byId = new Map(lanes.map((lane) => [lane.id, lane]))
  return new Map(
    settlements.map((one): readonly [ClaimedSettlement, Settled] => {
      const lane = byId.get(one.claim.laneId)
      if (lane === undefined) return [one, { state: 'lost' }]
      if (lane.owner === null) return [one, { state: 'released' }]
      const messages = lane.is_due === 1 ? undefined : batches.get(one.claim.laneId)
      return [one, { state: 'held', next: messages ? { isShelved: false, messages } : null }]
    }),
  )
}

/** Messages that were acknowledged. */
export function countMessages(settlements: readonly ClaimedSettlement[]): number {
  return settlements.reduce((sum, { settlement }) => sum + settlement.acknowledged.length, 0)
}

/** The attempts that were made. */
export function attemptsOf(settlements: readonly ClaimedSettlement[]) {
  return settlements.map(({ claim, settlement }) => ({ ...settlement.attempt, laneId: claim.laneId }))
}

/**
 * The ranges of messages that were acknowledged, as a table. They hold nothing else: sequence numbers only rise, and a replaced message has
 * left its own.
 */
export function acknowledgedRanges(
  tx: ControlDatabase | ControlTransaction,
  settlements: readonly ClaimedSettlement[],
): RawBuilder<unknown> {
  return givenRows(
    tx,
    { lane_id: 'bigint', first_seq: 'bigint', last_seq: 'bigint', sent_at: 'bigint' },
    settlements.flatMap(({ claim, settlement: { acknowledged, settledAt } }) => {
      const [first, last] = [acknowledged.at(0), acknowledged.at(-1)]
      return first && last ? [[claim.laneId, first.seq, last.seq, settledAt]] : []
    }),
  )
}

/** That a `message` lies in a `range` of {@link acknowledgedRanges}. */
export const IS_IN_RANGE: RawBuilder<SqlBool> = sql`
  message.lane_id = range.lane_id and message.seq between range.first_seq and range.last_seq
  and (message.shelved_until_at is null or range.first_seq = range.last_seq)`

/** What is remembered of an acknowledged message, besides when it was sent. */
export const SENT_COLUMNS = sql`lane_id, event_id, seq, version, hash`

/** How it is remembered where an older revision is, or a newer one. */
export const UNLESS_NEWER = sql`
  on conflict (lane_id, event_id) do update set
    seq = excluded.seq, version = excluded.version, hash = excluded.hash, sent_at = excluded.sent_at, head = null
  where webhook_sent.seq < excluded.seq`

/** Moves what was acknowledged from the queue into the memory of what the receiver has; answers how many messages left. */
async function recordAndRemove(
  tx: ControlTransaction,
  settlements: readonly ClaimedSettlement[],
): Promise<number> {
  // A cross join keeps its order: each range finds its messages by their key.
  const messages = sql`
    from ${acknowledgedRanges(tx, settlements)} as range cross join webhook_message as message where ${IS_IN_RANGE}`
  await sql`
    insert into webhook_sent (${SENT_COLUMNS}, sent_at)
    select message.lane_id, event_id, seq, version, hash, range.sent_at ${messages} ${UNLESS_NEWER}`.execute(
    tx,
  )
  const removed = await sql`
    delete from webhook_message where rowid in (select message.rowid ${messages})`.execute(tx)
  return Number(removed.numAffectedRows)
}

/** A lane after its settlement: without owner where it was given back, due where a shelved message is. */
export interface UpdatedLane {
  readonly id: number
  readonly owner: string | null
  readonly is_due: number
}

/** The statement that writes where each lane is after it, which answers {@link UpdatedLane}s; those whose claims do not stand are missing. */
export function lanesUpdate(
  tx: ControlDatabase | ControlTransaction,
  settlements: readonly ClaimedSettlement[],
): RawBuilder<UpdatedLane> {
  const given = givenRows(
    tx,
    {
      id: 'bigint',
      owner: 'text',
      epoch: 'bigint',
      failures: 'bigint',
      failing_since_at: 'bigint',
      refusals: 'bigint',
      batch_limit: 'bigint',
      from_cursor_seq: 'bigint',
      cursor_seq: 'bigint',
      next_attempt_at: 'bigint',
      is_leaving: 'bigint',
      settled_at: 'bigint',
    },
    settlements.map(({ claim, settlement: { lane, fromCursorSeq, nextAttemptAt, next, settledAt } }) => [
      claim.laneId,
      claim.owner,
      claim.epoch,
      lane.failures,
      lane.failingSinceAt,
      lane.refusals,
      lane.batchLimit,
      fromCursorSeq,
      lane.cursorSeq,
      nextAttemptAt,
      next === null ? 1 : 0,
      settledAt,
    ]),
  )
  const [id, cursorSeq] = [sql<number>`given.id`, sql<number>`given.cursor_seq`]
  const nowMs = settlements.reduce((latest, { settlement }) => Math.max(latest, settlement.settledAt), 0)
  // SQLite returns columns of the changed table only.
  return sql<UpdatedLane>`
    with decided as materialized (
      select given.*, state.row_address,
        case when is_leaving = 1 then 1
          when ${firstDueAt(id)} <= given.settled_at then 0
          when ${waitsBehind(id, cursorSeq)} then 0
          else 1 end as is_released
      from ${given} as given ${joinState(tx, id)}
    )
    update webhook_lane_state set
      failures = decided.failures,
      failing_since_at = decided.failing_since_at,
      refusals = decided.refusals,
      batch_limit = decided.batch_limit,
      cursor_seq = decided.cursor_seq,
      next_attempt_at = decided.next_attempt_at,
      owner = case decided.is_released when 1 then null else webhook_lane_state.owner end,
      lease_until_at = case decided.is_released when 1 then 0 else webhook_lane_state.lease_until_at end,
      served_at = case decided.is_released when 1 then decided.settled_at else webhook_lane_state.served_at end
    from decided
    where ${rowAddress(tx, 'webhook_lane_state')} = decided.row_address and webhook_lane_state.owner = decided.owner
      and webhook_lane_state.epoch = decided.epoch and webhook_lane_state.cursor_seq = decided.from_cursor_seq
    returning webhook_lane_state.lane_id as id, webhook_lane_state.owner,
      case when ${firstDueAt(sql<number>`webhook_lane_state.lane_id`)} <= ${nowMs} then 1 else 0 end as is_due`
}
