import type { AttemptStore } from '../delivery/attempt.ts'
import type { Outcome } from '../delivery/outcome.ts'
import type { ControlDatabase } from './database.ts'

/** Attempts in the control database; a settlement writes them. */
export function createAttemptStore(db: ControlDatabase): AttemptStore {
  return {
    async list(laneId, { limit, beforeId }) {
      const rows = await db
        .selectFrom('webhook_attempt')
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
