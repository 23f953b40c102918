import type { Attempt, AttemptFilter, AttemptStore } from '../delivery/attempt.ts'
import type { Outcome } from '../delivery/outcome.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'

/** Attempts in the control database; a settlement writes them. */
export function createAttemptStore(db: ControlDatabase): AttemptStore {
  return {
    record: (laneId, attempt) => insertAttempt(db, laneId, attempt),

    async list(laneId, { limit, beforeId, ...filter }) {
      const rows = await filtered(db, filter)
        .selectAll()
        .where('lane_id', '=', laneId)
        .where('id', '<', beforeId ?? Number.MAX_SAFE_INTEGER)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute()
      return rows.map((row) => ({
        id: row.id,
        webhookId: row.webhook_id,
        startedAt: row.started_at,
        durationMs: row.duration_ms,
        outcome: row.outcome as Outcome['kind'],
        status: row.status,
        reason: row.reason,
        messages: row.messages,
        bytes: row.bytes,
        firstEventId: row.first_event_id,
        lastEventId: row.last_event_id,
        answer: row.answer,
      }))
    },
  }
}

function filtered(db: ControlDatabase, { outcome, isFailure, status, fromAt, untilAt }: AttemptFilter) {
  let query = db.selectFrom('webhook_attempt')
  if (outcome !== null) query = query.where('outcome', '=', outcome)
  if (isFailure) query = query.where('outcome', '<>', 'acknowledged')
  if (status !== null) query = query.where('status', '=', status)
  if (fromAt !== null) query = query.where('started_at', '>=', fromAt)
  if (untilAt !== null) query = query.where('started_at', '<', untilAt)
  return query
}

/** Records one attempt. */
export function insertAttempt(
  db: ControlDatabase | ControlTransaction,
  laneId: number,
  attempt: Attempt,
): Promise<void> {
  return insertAttempts(db, [{ ...attempt, laneId }])
}

/** Records attempts of several lanes. */
export async function insertAttempts(
  db: ControlDatabase | ControlTransaction,
  attempts: readonly (Attempt & { readonly laneId: number })[],
): Promise<void> {
  await db
    .insertInto('webhook_attempt')
    .values(
      attempts.map((attempt) => ({
        lane_id: attempt.laneId,
        webhook_id: attempt.webhookId,
        started_at: attempt.startedAt,
        duration_ms: attempt.durationMs,
        outcome: attempt.outcome,
        status: attempt.status,
        reason: attempt.reason,
        messages: attempt.messages,
        bytes: attempt.bytes,
        first_event_id: attempt.firstEventId,
        last_event_id: attempt.lastEventId,
        answer: attempt.answer,
      })),
    )
    .execute()
}
