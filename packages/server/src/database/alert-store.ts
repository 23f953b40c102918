import {
  ALERT_EXPORT_NAME,
  ALERT_LEVELS,
  alertData,
  alertLevelOf,
  type Alert,
  type AlertStore,
} from '../delivery/alert.ts'
import { MAX_CONFIRMATIONS, RATED_ATTEMPTS } from '../delivery/channel.ts'
import type { ExportedMessage } from '../delivery/message.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { claimingRows } from './lane-store-locks.ts'
import { enqueueExports } from './outbox.ts'
import { inTransaction } from './transaction.ts'

/** An alert, and the channel that it is told to. */
interface ToldAlert {
  readonly alert: Alert
  readonly channel: string
}

/** A chain of its own, so that no processor's blocks share event ids with alerts. */
const ALERT_CHAIN = 'millrace:alerts'

/** Alerts in the control database: each lane remembers the level that was told last. */
export function createAlertStore(db: ControlDatabase): AlertStore {
  return {
    take: (nowMs) =>
      inTransaction(db, async (tx) => {
        const alerts: Alert[] = []
        const told: ToldAlert[] = []
        for (const row of await findTroubled(tx)) {
          const state = { failingSinceAt: row.failing_since_at, isDisabled: row.disabled_reason !== null }
          const level = alertLevelOf(state, nowMs)
          const rank = ALERT_LEVELS.indexOf(level)
          // Between two levels there is nothing to tell: a failure grows worse, or ends.
          if (rank === row.alert_level || (rank < row.alert_level && level !== 'none')) continue
          if (level === 'none' && (row.failing_since_at !== null || !(await isServed(tx, row)))) continue
          await tx.updateTable('webhook_lane').set({ alert_level: rank }).where('id', '=', row.id).execute()
          const alert = {
            projectId: row.project_id,
            channel: row.name,
            level,
            failingSinceAt: row.failing_since_at,
            failures: row.failures,
            disabledReason: row.disabled_reason,
            lastError: level === 'none' ? null : await findLastError(tx, row.id),
          }
          alerts.push(alert)
          if (row.alert_channel !== null) told.push({ alert, channel: row.alert_channel })
        }
        // A project at a time, and in order, as channels are locked by that.
        const byProject = Map.groupBy(told, ({ alert }) => alert.projectId)
        for (const [projectId, own] of [...byProject].toSorted(([a], [b]) => a - b)) {
          await enqueue(tx, projectId, own, nowMs)
        }
        return alerts
      }),
  }
}

function findTroubled(tx: ControlTransaction) {
  return claimingRows(
    tx,
    'webhook_lane',
    tx
      .selectFrom('webhook_lane')
      .innerJoin('webhook_lane_state', 'webhook_lane_state.lane_id', 'webhook_lane.id')
      .selectAll()
      .where('deleted_at', 'is', null)
      // Who paused a channel knows that it does not deliver.
      .where('is_paused', '=', 0)
      .where((eb) =>
        eb.or([
          eb('failing_since_at', 'is not', null),
          eb('disabled_reason', 'is not', null),
          eb('alert_level', '<>', 0),
        ]),
      )
      .orderBy('id'),
  ).execute()
}

/** Whether something was acknowledged since delivery started afresh: that alone ends no failure. */
async function isServed(
  tx: ControlTransaction,
  { id, ages_from_at: afreshAt }: { readonly id: number; readonly ages_from_at: number },
): Promise<boolean> {
  // It is among the newest, as a channel that failed since would be failing.
  const newest = tx
    .selectFrom('webhook_attempt')
    .select(['outcome', 'started_at'])
    .where('lane_id', '=', id)
    .orderBy('id', 'desc')
    .limit(RATED_ATTEMPTS)
  const acknowledged = await tx
    .selectFrom(newest.as('newest'))
    .select('started_at')
    .where('outcome', '=', 'acknowledged')
    .where('started_at', '>=', afreshAt)
    .limit(1)
    .executeTakeFirst()
  return acknowledged !== undefined
}

async function findLastError(tx: ControlTransaction, laneId: number): Promise<string | null> {
  const last = await tx
    .selectFrom('webhook_attempt')
    .select('reason')
    .where('lane_id', '=', laneId)
    .where('outcome', '<>', 'acknowledged')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return last?.reason ?? null
}

function messageOf({ alert, channel }: ToldAlert, nowMs: number): ExportedMessage {
  return {
    channel,
    exportName: ALERT_EXPORT_NAME,
    chain: ALERT_CHAIN,
    blockNumber: nowMs,
    position: null,
    timestampMicros: nowMs * 1000,
    version: 1,
    data: alertData(alert),
  }
}

async function enqueue(
  tx: ControlTransaction,
  projectId: number,
  told: readonly ToldAlert[],
  nowMs: number,
): Promise<void> {
  const messages = told.map((one) => messageOf(one, nowMs))
  // No reorganisation undoes an alert: it is confirmed from the start.
  const heads = [{ chain: ALERT_CHAIN, blockNumber: nowMs + MAX_CONFIRMATIONS }]
  await enqueueExports(tx, { projectId, version: 1 }, { messages, heads }, nowMs)
}
