import { sql } from 'kysely'
import type { LaneClaim, Settlement } from '../delivery/lane.ts'
import { insertAttempts } from './attempt-store.ts'
import type { ControlTransaction } from './database.ts'
import { givenRows } from './given-rows.ts'
import { hasRowLocks } from './lane-store-locks.ts'

/** A settlement on its way. */
export interface ClaimedSettlement {
  readonly claim: LaneClaim
  readonly settlement: Settlement
}

/** True for a settlement that only takes acknowledged messages out of the queue, as nearly all do. */
export function isPlain({ settlement }: ClaimedSettlement): boolean {
  const { acknowledged, buried, shelved, isRetracting, disabledReason } = settlement
  return (
    acknowledged.length > 0 &&
    buried.length === 0 &&
    shelved.length === 0 &&
    disabledReason === null &&
    !isRetracting
  )
}

/**
 * Applies plain settlements of several lanes with as many statements as one would take. False when one of them met what
 * it did not expect: a claim that does not stand any more, or a message that was replaced or withdrawn meanwhile. Then
 * the transaction is to be rolled back and each is to be settled by itself.
 */
export async function settlePlain(
  tx: ControlTransaction,
  unordered: readonly ClaimedSettlement[],
): Promise<boolean> {
  // In order of lanes, and each in order of sequence, as everybody locks messages.
  const settlements = unordered.toSorted((a, b) => a.claim.laneId - b.claim.laneId)
  if (!(await updateLanes(tx, settlements))) return false
  const wanted = settlements.reduce((sum, { settlement }) => sum + settlement.acknowledged.length, 0)
  if ((await recordAndRemove(tx, settlements)) !== wanted) return false
  await insertAttempts(
    tx,
    settlements.map(({ claim, settlement }) => ({ ...settlement.attempt, laneId: claim.laneId })),
  )
  return true
}

/**
 * Moves what was acknowledged from the queue into the memory of what the receiver has; answers how many messages left.
 * By ranges, which hold nothing else: sequence numbers only rise, and a replaced message has left its own.
 */
async function recordAndRemove(
  tx: ControlTransaction,
  settlements: readonly ClaimedSettlement[],
): Promise<number> {
  const ranges = givenRows(
    tx,
    { lane_id: 'bigint', first_seq: 'bigint', last_seq: 'bigint', sent_at: 'bigint' },
    settlements.map(({ claim, settlement: { acknowledged, settledAt } }) => [
      claim.laneId,
      acknowledged.at(0)?.seq ?? 0,
      acknowledged.at(-1)?.seq ?? 0,
      settledAt,
    ]),
  )
  const isInRange = sql`
    message.lane_id = range.lane_id and message.seq between range.first_seq and range.last_seq
    and (message.shelved_until_at is null or range.first_seq = range.last_seq)`
  const columns = sql`lane_id, event_id, seq, version, hash`
  const unlessNewer = sql`
    on conflict (lane_id, event_id) do update set
      seq = excluded.seq, version = excluded.version, hash = excluded.hash, sent_at = excluded.sent_at, head = null
    where webhook_sent.seq < excluded.seq`
  if (!hasRowLocks(tx)) {
    // A cross join keeps its order: each range finds its messages by their key.
    const messages = sql`from ${ranges} as range cross join webhook_message as message where ${isInRange}`
    await sql`
      insert into webhook_sent (${columns}, sent_at)
      select message.lane_id, event_id, seq, version, hash, range.sent_at ${messages} ${unlessNewer}`.execute(
      tx,
    )
    const removed = await sql`
      delete from webhook_message where rowid in (select message.rowid ${messages})`.execute(tx)
    return Number(removed.numAffectedRows)
  }
  const { rows } = await sql<{ count: number }>`
    with acknowledged as materialized (
      select message.*, range.sent_at from ${ranges} as range cross join lateral (
        select ctid as place, ${columns} from webhook_message as message
        where ${isInRange} order by message.seq for update
      ) as message
    ),
    removed as (delete from webhook_message where ctid in (select place from acknowledged) returning 1),
    recorded as (
      insert into webhook_sent (${columns}, sent_at)
      select ${columns}, sent_at from acknowledged ${unlessNewer}
    )
    select count(*) as count from removed`.execute(tx)
  return Number(rows[0]?.count)
}

async function updateLanes(
  tx: ControlTransaction,
  settlements: readonly ClaimedSettlement[],
): Promise<boolean> {
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
      cursor_seq: 'bigint',
      next_attempt_at: 'bigint',
      is_released: 'bigint',
      settled_at: 'bigint',
    },
    settlements.map(({ claim, settlement: { lane, nextAttemptAt, isReleased, settledAt } }) => [
      claim.laneId,
      claim.owner,
      claim.epoch,
      lane.failures,
      lane.failingSinceAt,
      lane.refusals,
      lane.batchLimit,
      lane.cursorSeq,
      nextAttemptAt,
      isReleased ? 1 : 0,
      settledAt,
    ]),
  )
  const { numAffectedRows } = await sql`
    update webhook_lane set
      failures = given.failures,
      failing_since_at = given.failing_since_at,
      refusals = given.refusals,
      batch_limit = given.batch_limit,
      cursor_seq = given.cursor_seq,
      next_attempt_at = given.next_attempt_at,
      disabled_reason = null,
      owner = case given.is_released when 1 then null else webhook_lane.owner end,
      lease_until_at = case given.is_released when 1 then 0 else webhook_lane.lease_until_at end,
      served_at = case given.is_released when 1 then given.settled_at else webhook_lane.served_at end
    from ${given} as given
    where webhook_lane.id = given.id and webhook_lane.owner = given.owner
      and webhook_lane.epoch = given.epoch`.execute(tx)
  return Number(numAffectedRows) === settlements.length
}
