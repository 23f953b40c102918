import { RATED_ATTEMPTS, type Channel, type ChannelStatus } from '../delivery/channel.ts'
import { headersFromRow, limitsFromRow, tlsFromRow, type LaneRow } from './channel-store-row.ts'
import type { ControlDatabase } from './database.ts'

/** What is counted for a channel besides its row. */
interface Counts {
  readonly pending: number | string | bigint | null
  readonly held: number | string | bigint | null
  readonly oldest_at: number | null
  readonly attempts: number | string | bigint | null
  readonly acknowledged: number | string | bigint | null
  readonly last_error: string | null
}

/** The channels of a project by name, or the named one, with the state of their lanes (DL-12). */
export async function findChannels(
  db: ControlDatabase,
  projectId: number,
  name: string | null,
): Promise<readonly Channel[]> {
  let query = db
    .selectFrom('webhook_lane')
    .innerJoin('webhook_lane_state', 'webhook_lane_state.lane_id', 'webhook_lane.id')
    .selectAll()
    .select((eb) => {
      const waiting = eb
        .selectFrom('webhook_message')
        .whereRef('webhook_message.lane_id', '=', 'webhook_lane.id')
      const newest = eb
        .selectFrom('webhook_attempt')
        .select(['webhook_attempt.id', 'outcome', 'reason'])
        .whereRef('webhook_attempt.lane_id', '=', 'webhook_lane.id')
        .orderBy('webhook_attempt.id', 'desc')
      const rated = eb.selectFrom(newest.limit(RATED_ATTEMPTS).as('rated'))
      return [
        waiting.select((eb) => eb.fn.countAll().as('count')).as('pending'),
        waiting.select((eb) => eb.fn.min('enqueued_at').as('oldest')).as('oldest_at'),
        eb
          .selectFrom('webhook_held_message')
          .select((eb) => eb.fn.countAll().as('count'))
          .whereRef('webhook_held_message.lane_id', '=', 'webhook_lane.id')
          .as('held'),
        rated.select((eb) => eb.fn.countAll().as('count')).as('attempts'),
        rated
          .select((eb) => eb.fn.countAll().as('count'))
          .where('outcome', '=', 'acknowledged')
          .as('acknowledged'),
        eb
          .selectFrom(newest.limit(1).as('last'))
          .select('last.reason')
          .where('last.outcome', '<>', 'acknowledged')
          .as('last_error'),
      ]
    })
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .orderBy('name')
  if (name !== null) query = query.where('name', '=', name)
  const rows = await query.execute()
  const letters = await countLetters(db, projectId)
  return rows.map((row) => fromRow(row, row, letters.get(row.id) ?? 0))
}

/** The dead letters of each lane of a project: counted at once, as no index leads from a lane to its letters. */
async function countLetters(db: ControlDatabase, projectId: number): Promise<ReadonlyMap<number, number>> {
  const rows = await db
    .selectFrom('webhook_dead_letter')
    .select((eb) => ['lane_id', eb.fn.countAll().as('count')])
    .where('project_id', '=', projectId)
    .groupBy('lane_id')
    .execute()
  return new Map(rows.map(({ lane_id, count }) => [lane_id, Number(count)]))
}

function fromRow(row: LaneRow, counts: Counts, deadLetters: number): Channel {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    url: row.url,
    headers: headersFromRow(row),
    tls: tlsFromRow(row),
    limits: limitsFromRow(row),
    confirmations: row.confirmations,
    isRetracting: row.is_retracting === 1,
    alertChannel: row.alert_channel,
    isPaused: row.is_paused === 1,
    disabledReason: row.disabled_reason,
    status: statusOf(row),
    failures: row.failures,
    failingSinceAt: row.failing_since_at,
    nextAttemptAt: row.next_attempt_at,
    pendingMessages: Number(counts.pending),
    heldMessages: Number(counts.held),
    oldestPendingAt: counts.oldest_at,
    deadLetters,
    recentAttempts: Number(counts.attempts),
    recentAcknowledged: Number(counts.acknowledged),
    lastError: counts.last_error,
    previousSecretUntilAt: row.previous_secret_until_at,
    createdAt: row.created_at,
  }
}

function statusOf(row: LaneRow): ChannelStatus {
  if (row.url === null) return 'unconfigured'
  if (row.disabled_reason !== null) return 'disabled'
  if (row.is_paused === 1) return 'paused'
  return row.failures > 0 ? 'failing' : 'active'
}
