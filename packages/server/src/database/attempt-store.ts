import { sql, type RawBuilder } from 'kysely'
import type { Attempt, AttemptFilter, AttemptStore } from '../delivery/attempt.ts'
import type { Outcome } from '../delivery/outcome.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { columnList, givenRows, type GivenRow } from './given-rows.ts'
import { hasRowLocks } from './lane-store-locks.ts'
import { createStatement, type StandIn, type StandIns } from './statement.ts'

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
export async function insertAttempt(
  db: ControlDatabase | ControlTransaction,
  laneId: number,
  attempt: Attempt,
): Promise<void> {
  await insertAttempts(db, { attempts: attemptRows([{ ...attempt, laneId }]) })
}

/** An attempt, and of which lane. */
type LaneAttempt = Attempt & { readonly laneId: number }

/** What an attempt is in a statement; the answer in hexadecimal digits. */
const COLUMNS = {
  lane_id: 'bigint',
  webhook_id: 'text',
  started_at: 'bigint',
  duration_ms: 'bigint',
  outcome: 'text',
  status: 'bigint',
  reason: 'text',
  messages: 'bigint',
  bytes: 'bigint',
  first_event_id: 'bigint',
  last_event_id: 'bigint',
  answer: 'text',
} as const

const PLAIN_COLUMNS = columnList(Object.keys(COLUMNS).filter((name) => name !== 'answer'))

/** Attempts of several lanes as a statement gets them. */
export function attemptRows(attempts: readonly LaneAttempt[]): readonly GivenRow[] {
  return attempts.map((attempt) => [
    attempt.laneId,
    attempt.webhookId,
    attempt.startedAt,
    attempt.durationMs,
    attempt.outcome,
    attempt.status,
    attempt.reason,
    attempt.messages,
    attempt.bytes,
    attempt.firstEventId,
    attempt.lastEventId,
    Buffer.from(attempt.answer).toString('hex'),
  ])
}

/** The text that records {@link attemptRows}. */
export function attemptsInsert(
  db: ControlDatabase | ControlTransaction,
  attempts: StandIn<readonly GivenRow[]>,
): RawBuilder<unknown> {
  const answer = hasRowLocks(db) ? sql`decode(answer, 'hex')` : sql`unhex(answer)`
  return sql`
    insert into webhook_attempt (${PLAIN_COLUMNS}, answer)
    select ${PLAIN_COLUMNS}, ${answer} from ${givenRows(db, COLUMNS, attempts)} as given`
}

/** Records {@link attemptRows}. */
export const insertAttempts = createStatement(
  ({ attempts }: StandIns<{ readonly attempts: readonly GivenRow[] }>, db) =>
    attemptsInsert(db, attempts).compile(db),
)
