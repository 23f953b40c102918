import { TOLD_BEFORE } from '../delivery/alert.ts'
import type { ChannelChange, ChannelStore } from '../delivery/channel.ts'
import { eventId } from '../delivery/event-id.ts'
import { channelColumns, destinationFromRow, tlsColumns } from './channel-store-row.ts'
import { clearChannel } from './channel-store-removal.ts'
import { findChannels } from './channel-store-view.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { countersUpdate, lockLane } from './lane-counters.ts'
import { releaseConfirmed } from './outbox-confirmations.ts'
import { createLane } from './outbox-lanes.ts'
import { inTransaction } from './transaction.ts'

/** Channels in the control database: the operator's side of `webhook_lane`. */
export function createChannelStore(db: ControlDatabase): ChannelStore {
  return {
    list: (projectId) => findChannels(db, projectId, null),
    find: async (projectId, name) => (await findChannels(db, projectId, name))[0] ?? null,

    create: (projectId, name, { secret, ...configuration }, nowMs) =>
      inTransaction(db, async (tx) => {
        const id = await createLane(tx, projectId, name, nowMs)
        const { url } = await findConfiguration(tx, id)
        if (url !== null) return false
        await change(tx, id, configuration, secret, nowMs)
        return true
      }),

    change: (id, configuration, secret, nowMs) =>
      inTransaction(db, async (tx) => {
        const before = await findConfiguration(tx, id)
        await change(tx, id, configuration, before.secret ?? secret, nowMs)
        return before.secret === null && configuration.url !== undefined
      }),

    async rotateSecret(id, secret, overlapUntilAt) {
      await db
        .updateTable('webhook_lane')
        .set((eb) => ({
          previous_secret: eb.ref('secret'),
          previous_secret_until_at: overlapUntilAt,
          secret,
        }))
        .where('id', '=', id)
        .execute()
    },

    async destination(id, nowMs) {
      const row = await db.selectFrom('webhook_lane').selectAll().where('id', '=', id).executeTakeFirst()
      return row === undefined || row.url === null ? null : destinationFromRow(row, nowMs)
    },

    takeEventId: (id) =>
      inTransaction(db, async (tx) => {
        const counters = await lockLane(tx, id)
        counters.nextChunk += 1
        await countersUpdate(tx, [counters]).execute(tx)
        return eventId(counters.nextChunk - 1, 0)
      }),

    remove: (id, nowMs) => inTransaction(db, (tx) => remove(tx, id, nowMs)),
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
 * Applies a change. A new address or a resumption starts afresh: no failures, and messages age from now. A new address
 * and a pause take the lane from whoever serves it, so that what is under way to the old address decides nothing about
 * the new one; its lease ends with its attempt, or by itself.
 */
async function change(
  tx: ControlTransaction,
  id: number,
  { url, headers, tls, limits, confirmations, isRetracting, alertChannel, isPaused }: ChannelChange,
  secret: string,
  nowMs: number,
): Promise<void> {
  const startsAfresh = url !== undefined || isPaused === false
  const isTaken = url !== undefined || isPaused === true
  const configuration = {
    ...(url === undefined ? {} : { url, secret, host: new URL(url).host }),
    ...(headers === undefined ? {} : { headers: JSON.stringify(headers) }),
    ...(tls === undefined ? {} : tlsColumns(tls)),
    ...(limits === undefined ? {} : channelColumns(limits)),
    ...(confirmations === undefined ? {} : { confirmations }),
    ...(isRetracting === undefined ? {} : { is_retracting: isRetracting ? 1 : 0 }),
    ...(alertChannel === undefined ? {} : { alert_channel: alertChannel }),
    ...(isPaused === undefined ? {} : { is_paused: isPaused ? 1 : 0 }),
    ...(startsAfresh
      ? {
          disabled_reason: null,
          ages_from_at: nowMs,
        }
      : {}),
  }
  if (Object.keys(configuration).length > 0) {
    await tx.updateTable('webhook_lane').set(configuration).where('id', '=', id).execute()
  }
  if (startsAfresh) {
    await tx
      .updateTable('webhook_lane')
      .set({ alert_level: TOLD_BEFORE })
      .where('id', '=', id)
      .where('alert_level', '<>', 0)
      .execute()
  }
  if (isTaken || startsAfresh) {
    await tx
      .updateTable('webhook_lane_state')
      .set((eb) => ({
        ...(isTaken ? { epoch: eb('epoch', '+', 1), owner: null } : {}),
        ...(startsAfresh ? { failures: 0, failing_since_at: null, refusals: 0, next_attempt_at: 0 } : {}),
      }))
      .where('lane_id', '=', id)
      .execute()
  }
  if (confirmations !== undefined) await releaseConfirmed(tx, id, nowMs)
}

async function remove(tx: ControlTransaction, id: number, nowMs: number): Promise<void> {
  await tx
    .updateTable('webhook_lane')
    .set({
      deleted_at: nowMs,
      url: null,
      secret: null,
      previous_secret: null,
      host: null,
      headers: '{}',
      certificate_authority: null,
      client_certificate: null,
      client_key: null,
      alert_channel: null,
      alert_level: 0,
      confirmations: 0,
      is_retracting: 0,
      is_paused: 0,
      disabled_reason: null,
    })
    .where('id', '=', id)
    .execute()
  await tx
    .updateTable('webhook_lane_state')
    .set((eb) => ({ failures: 0, failing_since_at: null, epoch: eb('epoch', '+', 1) }))
    .where('lane_id', '=', id)
    .execute()
  await clearChannel(tx, id)
}
