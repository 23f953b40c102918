import type { Channel, ChannelChange, ChannelStatus, ChannelStore } from '../delivery/channel.ts'
import { channelColumns, headersFromRow, limitsFromRow, type LaneRow } from './channel-store-row.ts'
import { clearChannel } from './channel-store-removal.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { createLane } from './outbox-lanes.ts'

/** Channels in the control database: the operator's side of `webhook_lane`. */
export function createChannelStore(db: ControlDatabase): ChannelStore {
  return {
    list: (projectId) => find(db, projectId, null),
    find: async (projectId, name) => (await find(db, projectId, name))[0] ?? null,

    create: (projectId, name, { secret, ...configuration }, nowMs) =>
      db.transaction().execute(async (tx) => {
        const id = await createLane(tx, projectId, name, nowMs)
        const { url } = await findConfiguration(tx, id)
        if (url !== null) return false
        await change(tx, id, configuration, secret, nowMs)
        return true
      }),

    change: (id, configuration, secret, nowMs) =>
      db.transaction().execute(async (tx) => {
        const before = await findConfiguration(tx, id)
        await change(tx, id, configuration, before.secret ?? secret, nowMs)
        return before.secret === null && configuration.url !== undefined
      }),

    remove: (id, nowMs) => db.transaction().execute((tx) => remove(tx, id, nowMs)),
  }
}

function findConfiguration(
  tx: ControlTransaction,
  id: number,
): Promise<{ readonly url: string | null; readonly secret: string | null }> {
  return tx
    .selectFrom('webhook_lane')
    .select(['url', 'secret'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
}

/**
 * Applies a change. A new address or a resumption starts afresh: no failures, and messages age from now. The epoch
 * rises, so that what is under way to the old address decides nothing about the new one; its lease runs out by itself.
 */
async function change(
  tx: ControlTransaction,
  id: number,
  { url, headers, limits, isPaused }: ChannelChange,
  secret: string,
  nowMs: number,
): Promise<void> {
  const startsAfresh = url !== undefined || isPaused === false
  await tx
    .updateTable('webhook_lane')
    .set((eb) => ({
      epoch: eb('epoch', '+', 1),
      ...(url === undefined ? {} : { url, secret }),
      ...(headers === undefined ? {} : { headers: JSON.stringify(headers) }),
      ...(limits === undefined ? {} : channelColumns(limits)),
      ...(isPaused === undefined ? {} : { is_paused: isPaused ? 1 : 0 }),
      ...(startsAfresh
        ? {
            disabled_reason: null,
            ages_from_at: nowMs,
            failures: 0,
            failing_since_at: null,
            refusals: 0,
            next_attempt_at: 0,
          }
        : {}),
    }))
    .where('id', '=', id)
    .execute()
}

async function find(
  db: ControlDatabase,
  projectId: number,
  name: string | null,
): Promise<readonly Channel[]> {
  let query = db
    .selectFrom('webhook_lane')
    .selectAll()
    .select((eb) => {
      const waiting = eb
        .selectFrom('webhook_message')
        .whereRef('webhook_message.lane_id', '=', 'webhook_lane.id')
      return [
        waiting.select((eb) => eb.fn.countAll().as('count')).as('pending'),
        waiting.select((eb) => eb.fn.min('enqueued_at').as('oldest')).as('oldest_at'),
      ]
    })
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .orderBy('name')
  if (name !== null) query = query.where('name', '=', name)
  const rows = await query.execute()
  return rows.map((row) => fromRow(row, Number(row.pending), row.oldest_at))
}

function fromRow(row: LaneRow, pendingMessages: number, oldestPendingAt: number | null): Channel {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    url: row.url,
    headers: headersFromRow(row),
    limits: limitsFromRow(row),
    isPaused: row.is_paused === 1,
    disabledReason: row.disabled_reason,
    status: statusOf(row),
    failures: row.failures,
    failingSinceAt: row.failing_since_at,
    nextAttemptAt: row.next_attempt_at,
    pendingMessages,
    oldestPendingAt,
    createdAt: row.created_at,
  }
}

function statusOf(row: LaneRow): ChannelStatus {
  if (row.url === null) return 'unconfigured'
  if (row.disabled_reason !== null) return 'disabled'
  if (row.is_paused === 1) return 'paused'
  return row.failures > 0 ? 'failing' : 'active'
}

async function remove(tx: ControlTransaction, id: number, nowMs: number): Promise<void> {
  await tx
    .updateTable('webhook_lane')
    .set((eb) => ({
      deleted_at: nowMs,
      url: null,
      secret: null,
      headers: '{}',
      is_paused: 0,
      disabled_reason: null,
      failures: 0,
      failing_since_at: null,
      epoch: eb('epoch', '+', 1),
    }))
    .where('id', '=', id)
    .execute()
  await clearChannel(tx, id)
}
