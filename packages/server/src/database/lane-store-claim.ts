import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import { hostShare } from '../delivery/host-share.ts'
import type { ClaimedLane, ClaimRequest } from '../delivery/lane.ts'
import { destinationFromRow, limitsFromRow, type LaneRow } from './channel-store-row.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { givenLanes, givenRows, type GivenRow } from './given-rows.ts'
import { firstDueAt, waitsBehind } from './lane-queue.ts'
import {
  fittingMessages,
  LANES_READ_TOGETHER,
  messagesByLane,
  type JoinedMessageRow,
} from './lane-store-batch.ts'
import { joinState } from './lane-states.ts'
import { areLeasesKnown, noteForgottenLeases } from './lease-memory.ts'
import { rowAddress } from './row-address.ts'
import { createStatement, type StandIn, type StandIns } from './statement.ts'
import { WITHOUT_WAITING } from './unsynced-transaction.ts'

/** The ids of lanes that have something to send now and that nobody holds, those that waited longest first. On PostgreSQL. */
export async function readyLanes(
  db: ControlDatabase,
  nowMs: number,
  limit: number,
): Promise<readonly number[]> {
  const { rows } = await findReady(db, { nowMs, limit })
  return rows.map((row) => row.id)
}

const findReady = createStatement(
  ({ nowMs, limit }: StandIns<{ readonly nowMs: number; readonly limit: number }>, db) =>
    sql<{ id: number }>`
      select lane.id from webhook_lane as lane ${joinState(db, sql<number>`lane.id`)}
      where ${isFree(nowMs)} and ${hasSomething(nowMs)}
      order by state.served_at limit ${limit}`.compile(db),
)

/**
 * Every row of a claim has all columns of a channel, which is dearer than to ask once more for what is read in long batches: of a lane in which more
 * than so many messages wait, the claim reads none.
 */
const MESSAGES_READ_BY_CLAIM = 32

/** A claimed lane with one of the messages that it sends first, or without any. The channel's columns come with the first of them alone. */
type ClaimedRow = LaneRow & JoinedMessageRow

/**
 * Claims lanes that have something to send now and that nobody holds, those that waited longest first, but before them those that failed
 * last time, up to their share; `busyHosts` counts what is under way (DL-9). On PostgreSQL, where the statement that claims also reads what the
 * first of them send. It sees the queue as it was when the statement began; had somebody else claimed the lane since, the epoch would be another.
 */
export async function claimReady(
  db: ControlDatabase,
  request: ClaimRequest,
): Promise<readonly ClaimedLane[]> {
  const { owner, nowMs, leaseMs, limit, failingLimit, hostLimit, busyHosts, exceptLaneIds, among } = request
  const share = hostShare(hostLimit)
  const values: ClaimValues = {
    owner,
    nowMs,
    leaseUntilAt: nowMs + leaseMs,
    limit,
    failingLimit,
    share,
    // A host that is half busy takes part by what is left to it, so only few hosts are sent along.
    crowded: [...busyHosts]
      .filter(([, count]) => count > hostLimit - share)
      .map(([host, count]) => [host, Math.max(0, hostLimit - count)]),
    exceptLaneIds,
  }
  const { rows } = among === null ? await claimOfAll(db, values) : await claimAmong(db, { ...values, among })
  return lanesWithMessages(rows, request)
}

/** What a claim is given. */
interface ClaimValues extends Pick<
  ClaimRequest,
  'owner' | 'nowMs' | 'limit' | 'failingLimit' | 'exceptLaneIds'
> {
  readonly leaseUntilAt: number
  /** Requests that a host may have which is not `crowded`, and of each that is, how many more it may have. */
  readonly share: number
  readonly crowded: readonly GivenRow[]
}

const claimOfAll = createStatement((given: StandIns<ClaimValues>, db) =>
  claimQuery(db, given, sql.table('webhook_lane')).compile(db),
)

const claimAmong = createStatement(
  (given: StandIns<ClaimValues & { readonly among: readonly number[] }>, db) =>
    claimQuery(db, given, channelsOf(db, given.among)).compile(db),
)

/** `channels` are those that are looked at. */
function claimQuery(
  db: ControlDatabase | ControlTransaction,
  given: StandIns<ClaimValues>,
  channels: RawBuilder<unknown>,
): RawBuilder<ClaimedRow> {
  const { nowMs, leaseUntilAt } = given
  const crowded = givenRows(db, { host: 'text', places: 'bigint' }, given.crowded)
  const asked = sql`(
    select numbered.lane_id, numbered.cursor_seq as after_seq, numbered.max_messages, numbered.max_bytes
    where numbered.number <= ${LANES_READ_TOGETHER} and (${firstDueAt(sql<number>`numbered.lane_id`)} <= ${nowMs}) is not true)`
  // Locked by the epoch, which whoever claims or takes a lane meanwhile raises: then it is not found any more.
  return sql<ClaimedRow>`
    with noted as (${noteForgottenLeases(leaseUntilAt)}),
    free as materialized (
      select lane.id, lane.host, lane.max_batch_messages, lane.max_batch_bytes, state.row_address, state.epoch,
        state.served_at, state.failures > 0 as is_failing,
        row_number() over (partition by state.failures > 0 order by state.served_at) as turn
      from ${channels} as lane ${joinState(db, sql<number>`lane.id`)}
      where ${WITHOUT_WAITING} and ${areLeasesKnown(nowMs, leaseUntilAt)}
        and ${isFree(nowMs)} and ${isNoneOf(db, given.exceptLaneIds)} and ${hasSomething(nowMs)}
    ),
    standing as materialized (
      select free.*, row_number() over (partition by host order by is_failing desc, served_at) as place
      from free where not is_failing or turn <= ${given.failingLimit}
    ),
    ready as materialized (
      select standing.row_address, state.epoch, max_batch_messages, max_batch_bytes from standing
      join webhook_lane_state as state on ${rowAddress(db, 'state')} = standing.row_address and state.epoch = standing.epoch
      where standing.place <= coalesce((select places from ${crowded} as given where given.host = standing.host), ${given.share})
        and state.lease_until_at <= ${nowMs}
      order by standing.is_failing desc, standing.served_at limit ${given.limit} for update of state skip locked
    ),
    claimed as (
      update webhook_lane_state as state
      set owner = ${given.owner}, epoch = state.epoch + 1, lease_until_at = ${leaseUntilAt}
      from ready where ${rowAddress(db, 'state')} = ready.row_address and state.epoch = ready.epoch
      returning state.*, least(max_batch_messages, state.batch_limit) as max_messages, max_batch_bytes as max_bytes
    ),
    numbered as (select claimed.*, row_number() over () as number from claimed)
    select lane.*, numbered.*, first.* from numbered
    left join lateral (${fittingMessages(asked, MESSAGES_READ_BY_CLAIM)}) as first on true
    left join webhook_lane as lane on lane.id = numbered.lane_id and coalesce(first.place, 1) = 1`
}

/** Something waits behind the cursor of the lane, of which `lane` is the channel and `state` the state, or a shelved message is due. */
function hasSomething(nowMs: Expression<number>): RawBuilder<SqlBool> {
  const [id, cursorSeq] = [sql<number>`lane.id`, sql<number>`state.cursor_seq`]
  return sql`(${waitsBehind(id, cursorSeq)} or ${firstDueAt(id)} <= ${nowMs})`
}

/** Channels, each found by its key. */
function channelsOf(
  db: ControlDatabase | ControlTransaction,
  laneIds: StandIn<readonly number[]>,
): RawBuilder<unknown> {
  return sql`(
    select channel.* from ${givenLanes(db, laneIds)} as given
    cross join lateral (select * from webhook_lane where webhook_lane.id = given.lane_id offset 0) as channel)`
}

/** In one text however many there are, because each new text of a statement is prepared anew. */
export function isNoneOf(
  db: ControlDatabase | ControlTransaction,
  laneIds: StandIn<readonly number[]>,
): RawBuilder<SqlBool> {
  return sql`lane.id not in (select lane_id from ${givenLanes(db, laneIds)} as given)`
}

/** A wait that is longer than its cap by this much was not meant. */
const CLOCK_SLACK_MS = 60_000

/** Nobody holds the lane, of which `lane` is the channel and `state` the state, and nothing keeps it from sending. */
export function isFree(nowMs: Expression<number>): RawBuilder<SqlBool> {
  // A wait that is longer than any: the clock was set back since.
  return sql`(
    lane.url is not null and lane.is_paused = 0 and lane.disabled_reason is null
    and (state.next_attempt_at <= ${nowMs} or state.next_attempt_at > lane.backoff_cap_ms + ${nowMs} + ${CLOCK_SLACK_MS})
    and state.lease_until_at <= ${nowMs})`
}

/** Lanes as their owner gets them, of rows that have their messages. */
function lanesWithMessages(
  rows: readonly ClaimedRow[],
  { owner, nowMs }: ClaimRequest,
): readonly ClaimedLane[] {
  const batches = messagesByLane(rows)
  return rows
    .filter(({ place }) => place === null || place === 1)
    .map((row) => {
      const messages = batches.get(row.id)
      const first = messages ? { isShelved: false, messages } : null
      return { ...laneFromRow(row, owner, nowMs), first }
    })
}

/** A lane as its owner gets it, without what it sends. */
export function laneFromRow(row: LaneRow, owner: string, nowMs: number): Omit<ClaimedLane, 'first'> {
  return {
    claim: { laneId: row.id, owner, epoch: row.epoch },
    projectId: row.project_id,
    channel: row.name,
    host: row.host ?? '',
    ...destinationFromRow(row, nowMs),
    limits: limitsFromRow(row),
    agesFromAt: row.ages_from_at,
    isRetracting: row.is_retracting === 1,
    state: {
      failures: row.failures,
      failingSinceAt: row.failing_since_at,
      refusals: row.refusals,
      batchLimit: row.batch_limit,
      cursorSeq: row.cursor_seq,
    },
  }
}
