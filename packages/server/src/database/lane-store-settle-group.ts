import { sql } from 'kysely'
import type { LaneClaim, Settled, Settlement } from '../delivery/lane.ts'
import { insertAttempts } from './attempt-store.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { givenRows } from './given-rows.ts'
import { firstDueAt, waitsBehind } from './lane-queue.ts'
import { LANES_READ_TOGETHER, nextBatches } from './lane-store-batch.ts'
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
 * Applies plain settlements of several lanes with as many statements as one would take, reads what goes next, and gives lanes
 * back in which nothing does. Null when one of them met what it did not expect: a claim that does not stand any more, or a
 * message that was replaced or withdrawn meanwhile. Then the transaction is to be rolled back and each is to be settled by itself.
 */
export async function settlePlain(
  db: ControlDatabase,
  tx: ControlTransaction,
  unordered: readonly ClaimedSettlement[],
): Promise<ReadonlyMap<ClaimedSettlement, Settled> | null> {
  // In order of lanes, and each in order of sequence, as everybody locks messages.
  const settlements = unordered.toSorted((a, b) => a.claim.laneId - b.claim.laneId)
  // What waits behind the new cursors is not changed here, so PostgreSQL reads it meanwhile, over another connection.
  const reading = hasRowLocks(tx) ? readNext(db, settlements) : null
  reading?.catch(() => undefined)
  const lanes = await updateLanes(tx, settlements)
  if (lanes.size !== settlements.length) return null
  const wanted = settlements.reduce((sum, { settlement }) => sum + settlement.acknowledged.length, 0)
  if ((await recordAndRemove(tx, settlements)) !== wanted) return null
  await insertAttempts(
    tx,
    settlements.map(({ claim, settlement }) => ({ ...settlement.attempt, laneId: claim.laneId })),
  )
  const held = settlements.filter(({ claim }) => lanes.get(claim.laneId) === 'held')
  const batches = await (reading ?? readNext(tx, held))
  return new Map(
    settlements.map((one): readonly [ClaimedSettlement, Settled] => {
      const state = lanes.get(one.claim.laneId)
      if (state === 'released') return [one, { state }]
      const messages = state === 'held' ? batches.get(one.claim.laneId) : undefined
      return [one, { state: 'held', next: messages ? { isShelved: false, messages } : null }]
    }),
  )
}

function readNext(
  db: ControlDatabase | ControlTransaction,
  settlements: readonly ClaimedSettlement[],
): ReturnType<typeof nextBatches> {
  const requests = settlements.flatMap(({ claim: { laneId }, settlement: { next } }) =>
    next === null ? [] : [{ laneId, ...next }],
  )
  return nextBatches(db, requests.slice(0, LANES_READ_TOGETHER))
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

/** Where each lane is after it: given back, held, or held with a shelved message that is due. Claims that do not stand are missing. */
async function updateLanes(
  tx: ControlTransaction,
  settlements: readonly ClaimedSettlement[],
): Promise<ReadonlyMap<number, 'released' | 'held' | 'due'>> {
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
  const { rows } = await sql<{ id: number; owner: string | null; is_due: number }>`
    with decided as materialized (
      select given.*,
        case when is_leaving = 1 then 1
          when ${firstDueAt(id)} <= given.settled_at then 0
          when ${waitsBehind(id, cursorSeq)} then 0
          else 1 end as is_released
      from ${given} as given
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
    where webhook_lane_state.lane_id = decided.id and webhook_lane_state.owner = decided.owner
      and webhook_lane_state.epoch = decided.epoch and webhook_lane_state.cursor_seq = decided.from_cursor_seq
    returning webhook_lane_state.lane_id as id, webhook_lane_state.owner,
      case when ${firstDueAt(sql<number>`webhook_lane_state.lane_id`)} <= ${nowMs} then 1 else 0 end as is_due`.execute(
    tx,
  )
  return new Map(
    rows.map(({ id, owner, is_due }) => [id, owner === null ? 'released' : is_due === 1 ? 'due' : 'held']),
  )
}
