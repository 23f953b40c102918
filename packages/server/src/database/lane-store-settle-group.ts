import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { LaneClaim, Settled, Settlement } from '../delivery/lane.ts'
import { attemptRows, insertAttempts } from './attempt-store.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { givenRows, type GivenRow } from './given-rows.ts'
import { firstDueAt, waitsBehind } from './lane-queue.ts'
import { joinState } from './lane-states.ts'
import { LANES_READ_TOGETHER, nextBatches } from './lane-store-batch.ts'
import { areSettlementsKnown } from './lease-memory.ts'
import { rowAddress } from './row-address.ts'
import { createStatement, type StandIns } from './statement.ts'

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
  const group = groupValues(settlements)
  const { rows } = await updateLanes(tx, group)
  if (rows.length !== group.laneCount) return null
  await recordSent(tx, group)
  const { numAffectedRows } = await removeSent(tx, group)
  if (Number(numAffectedRows) !== group.messageCount) return null
  await insertAttempts(tx, group)
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
    next === null || next === 'hold' ? [] : [{ laneId, ...next }],
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

/** A group as statements get it. */
export interface GroupValues {
  readonly lanes: readonly GivenRow[]
  readonly laneCount: number
  /** Ranges of messages that were acknowledged. */
  readonly ranges: readonly GivenRow[]
  readonly messageCount: number
  readonly attempts: readonly GivenRow[]
  /** When the last of them was settled. */
  readonly nowMs: number
}

/** A group of settlements as statements get it. */
export function groupValues(settlements: readonly ClaimedSettlement[]): GroupValues {
  return {
    lanes: settlements.map(laneRow),
    laneCount: settlements.length,
    ranges: settlements.flatMap(({ claim, settlement: { acknowledged, settledAt } }) => {
      const [first, last] = [acknowledged.at(0), acknowledged.at(-1)]
      return first && last ? [[claim.laneId, first.seq, last.seq, settledAt]] : []
    }),
    messageCount: settlements.reduce((sum, { settlement }) => sum + settlement.acknowledged.length, 0),
    attempts: attemptRows(
      settlements.map(({ claim, settlement }) => ({ ...settlement.attempt, laneId: claim.laneId })),
    ),
    nowMs: settlements.reduce((latest, { settlement }) => Math.max(latest, settlement.settledAt), 0),
  }
}

/**
 * The ranges of messages that were acknowledged, as a table. They hold nothing else: sequence numbers only rise, and a replaced message has
 * left its own.
 */
export function acknowledgedRanges(
  db: ControlDatabase | ControlTransaction,
  { ranges }: Pick<StandIns<GroupValues>, 'ranges'>,
): RawBuilder<unknown> {
  return givenRows(
    db,
    { lane_id: 'bigint', first_seq: 'bigint', last_seq: 'bigint', sent_at: 'bigint' },
    ranges,
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

/** The messages that were acknowledged. A cross join keeps its order: each range finds its messages by their key. */
function sentMessages(
  tx: ControlDatabase | ControlTransaction,
  group: StandIns<GroupValues>,
): RawBuilder<unknown> {
  return sql`
    from ${acknowledgedRanges(tx, group)} as range cross join webhook_message as message where ${IS_IN_RANGE}`
}

/** Moves what was acknowledged from the queue into the memory of what the receiver has: records it, then removes it. */
const recordSent = createStatement((group: StandIns<GroupValues>, tx) =>
  sql`
    insert into webhook_sent (${SENT_COLUMNS}, sent_at)
    select message.lane_id, event_id, seq, version, hash, range.sent_at
    ${sentMessages(tx, group)} ${UNLESS_NEWER}`.compile(tx),
)

const removeSent = createStatement((group: StandIns<GroupValues>, tx) =>
  sql`delete from webhook_message where rowid in (select message.rowid ${sentMessages(tx, group)})`.compile(
    tx,
  ),
)

/** A lane after its settlement: without owner where it was given back, due where a shelved message is. */
export interface UpdatedLane {
  readonly id: number
  readonly owner: string | null
  readonly is_due: number
}

const LANE_COLUMNS = {
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
  is_staying: 'bigint',
  settled_at: 'bigint',
} as const

function laneRow({
  claim,
  settlement: { lane, fromCursorSeq, nextAttemptAt, next, settledAt },
}: ClaimedSettlement): GivenRow {
  return [
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
    next === 'hold' ? 1 : 0,
    settledAt,
  ]
}

/** The text that writes where each lane is after it, which answers {@link UpdatedLane}s; those whose claims do not stand are missing. */
export function lanesUpdate(
  tx: ControlDatabase | ControlTransaction,
  { lanes, nowMs }: StandIns<GroupValues>,
): RawBuilder<UpdatedLane> {
  const given = givenRows(tx, LANE_COLUMNS, lanes)
  const [id, cursorSeq] = [sql<number>`given.id`, sql<number>`given.cursor_seq`]
  // SQLite returns columns of the changed table only.
  return sql<UpdatedLane>`
    with decided as materialized (
      select given.*, state.row_address,
        case when is_leaving = 1 then 1
          when is_staying = 1 then 0
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
      and ${areSettlementsKnown(tx, nowMs)}
    returning webhook_lane_state.lane_id as id, webhook_lane_state.owner,
      case when ${firstDueAt(sql<number>`webhook_lane_state.lane_id`)} <= ${nowMs} then 1 else 0 end as is_due`
}

const updateLanes = createStatement((group: StandIns<GroupValues>, tx) => lanesUpdate(tx, group).compile(tx))
