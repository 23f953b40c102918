import { sql, type ExpressionBuilder, type RawBuilder, type SqlBool } from 'kysely'
import { hostShare } from '../delivery/host-share.ts'
import { batchRequest, type ClaimedLane, type ClaimRequest } from '../delivery/lane.ts'
import { destinationFromRow, limitsFromRow, type LaneRow } from './channel-store-row.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { givenRows } from './given-rows.ts'
import { firstDueAt, waitsBehind } from './lane-queue.ts'
import { LANES_READ_TOGETHER, nextBatches } from './lane-store-batch.ts'
import { claimingRows } from './lane-store-locks.ts'
import type { ControlSchema } from './schema.ts'

/**
 * Claims lanes that have something to send now and that nobody holds, those that waited longest first; `failures`
 * chooses between those that failed last time and the others, `busyHosts` counts what is under way (DL-9).
 */
export async function claimReady(
  db: ControlDatabase,
  { owner, nowMs, leaseMs, hostLimit, exceptLaneIds }: ClaimRequest,
  failures: '=' | '>',
  limit: number,
  busyHosts: ReadonlyMap<string, number>,
): Promise<readonly LaneRow[]> {
  if (limit <= 0) return []
  // A host that is half busy takes part by what is left to it, so only few hosts make the statement longer.
  const share = hostShare(hostLimit)
  const crowded = [...busyHosts].filter(([, count]) => count > hostLimit - share)
  const full = crowded.filter(([, count]) => count >= hostLimit).map(([host]) => host)
  const partly = crowded.filter(([, count]) => count < hostLimit)

  const standings = db
    .selectFrom('webhook_lane')
    .select((eb) => [
      'id',
      'host',
      eb.fn
        .agg<number>('row_number')
        .over((over) => over.partitionBy('host').orderBy('served_at'))
        .as('place'),
    ])
    .where((eb) => isReady(eb, failures, nowMs))
    .where(isNoneOf(db, exceptLaneIds))
    .$if(full.length > 0, (query) => query.where('host', 'not in', full))
  return (
    db
      .with('standing', () => standings)
      // As a common table expression, because a subquery that locks may be run more than once.
      .with('ready', (cte) =>
        claimingRows(
          db,
          db
            .selectFrom('webhook_lane')
            .select('webhook_lane.id')
            // Again, on the row that gets locked: another may have claimed the lane since it was ranked.
            .where((eb) => isFree(eb, nowMs))
            .where('webhook_lane.id', 'in', () => {
              let ranked = cte.selectFrom('standing').select('standing.id').where('place', '<=', share)
              for (const [host, count] of partly) {
                ranked = ranked.where((eb) =>
                  eb.or([eb('host', '<>', host), eb('place', '<=', hostLimit - count)]),
                )
              }
              return ranked
            })
            .orderBy('served_at')
            .limit(limit),
        ),
      )
      .updateTable('webhook_lane')
      .set((eb) => ({ owner, epoch: eb('epoch', '+', 1), lease_until_at: nowMs + leaseMs }))
      .where('id', 'in', (eb) => eb.selectFrom('ready').select('ready.id'))
      .returningAll()
      .execute()
  )
}

/** In one text however many there are, because each new text of a statement is prepared anew. */
export function isNoneOf(
  db: ControlDatabase | ControlTransaction,
  laneIds: readonly number[],
): RawBuilder<SqlBool> {
  const given = givenRows(
    db,
    { lane_id: 'bigint' },
    laneIds.map((laneId) => [laneId]),
  )
  return sql`webhook_lane.id not in (select lane_id from ${given} as given)`
}

/** A wait that is longer than its cap by this much was not meant. */
const CLOCK_SLACK_MS = 60_000

type Lanes = ExpressionBuilder<ControlSchema, 'webhook_lane'>

/** Nobody holds the lane, and nothing keeps it from sending. */
export function isFree(eb: Lanes, nowMs: number) {
  return eb.and([
    eb('url', 'is not', null),
    eb('is_paused', '=', 0),
    eb('disabled_reason', 'is', null),
    eb.or([
      eb('next_attempt_at', '<=', nowMs),
      // Longer than any wait: the clock was set back since.
      eb('next_attempt_at', '>', eb(eb.val(nowMs + CLOCK_SLACK_MS), '+', eb.ref('backoff_cap_ms'))),
    ]),
    eb('lease_until_at', '<=', nowMs),
  ])
}

/** The lane is free and has something to send: behind its cursor, or on a schedule of its own (DL-4). */
function isReady(eb: Lanes, failures: '=' | '>', nowMs: number) {
  const id = eb.ref('webhook_lane.id')
  return eb.and([
    isFree(eb, nowMs),
    eb('failures', failures, 0),
    eb.or([waitsBehind(id, eb.ref('webhook_lane.cursor_seq')), eb(firstDueAt(id), '<=', nowMs)]),
  ])
}

/** Lanes as their owner gets them, the first of them with what they send first; a shelved message that is due is left to be looked for (DL-4). */
export async function lanesFromRows(
  db: ControlDatabase | ControlTransaction,
  rows: readonly LaneRow[],
  { owner, nowMs }: ClaimRequest,
): Promise<readonly ClaimedLane[]> {
  const lanes = rows.map((row) => laneFromRow(row, owner, nowMs))
  const requests = lanes
    .slice(0, LANES_READ_TOGETHER)
    .map(({ claim: { laneId }, limits, state }) => ({ laneId, ...batchRequest(limits, state, nowMs) }))
  // Hardly any is due, so both are asked at once.
  const [due, batches] = await Promise.all([lanesWithDue(db, lanes, nowMs), nextBatches(db, requests)])
  return lanes.map((lane) => {
    const { laneId } = lane.claim
    const messages = due.has(laneId) ? undefined : batches.get(laneId)
    return { ...lane, first: messages ? { isShelved: false, messages } : null }
  })
}

async function lanesWithDue(
  db: ControlDatabase | ControlTransaction,
  lanes: readonly { readonly claim: { readonly laneId: number } }[],
  nowMs: number,
): Promise<ReadonlySet<number>> {
  if (lanes.length === 0) return new Set()
  const given = givenRows(
    db,
    { lane_id: 'bigint' },
    lanes.map(({ claim }) => [claim.laneId]),
  )
  const { rows } = await sql<{ lane_id: number }>`
    select given.lane_id from ${given} as given
    where ${firstDueAt(sql<number>`given.lane_id`)} <= ${nowMs}`.execute(db)
  return new Set(rows.map((row) => row.lane_id))
}

function laneFromRow(row: LaneRow, owner: string, nowMs: number): Omit<ClaimedLane, 'first'> {
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
