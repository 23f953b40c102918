import {
  DEAD_LETTER_RETENTION_MS,
  type DeadLetter,
  type DeadLetterSummary,
  type DeadLetterStore,
  type PullRequest,
} from '../delivery/dead-letter.ts'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { chosenLetters, redriveLetters } from './dead-letter-redrive.ts'
import { lockingRows } from './lane-store-locks.ts'
import { slicesOf } from './outbox-slices.ts'
import { inTransaction } from './transaction.ts'

/** Dead letters in the control database. */
export function createDeadLetterStore(db: ControlDatabase): DeadLetterStore {
  return {
    async pull(projectId, request) {
      for (;;) {
        const letters = await inTransaction(db, (tx) => takeLetters(tx, projectId, request))
        if (letters !== null) return letters
      }
    },

    list: (projectId, request) => listLetters(db, projectId, request),

    async requestRedrive(projectId, choice, nowMs) {
      const { numUpdatedRows } = await db
        .updateTable('webhook_dead_letter')
        .set({ redrive_at: nowMs })
        .where(
          'id',
          'in',
          lockingRows(db, chosenLetters(db, projectId, choice).where('redrive_at', 'is', null).orderBy('id')),
        )
        .executeTakeFirstOrThrow()
      return Number(numUpdatedRows)
    },

    redrive: (messagesMax, nowMs) => redriveLetters(db, messagesMax, nowMs),

    dismiss: (projectId, choice) =>
      inTransaction(db, async (tx) => {
        const letters = await lockingRows(tx, chosenLetters(tx, projectId, choice).orderBy('id')).execute()
        for (const ids of slicesOf(letters.map(({ id }) => id))) {
          await tx.deleteFrom('webhook_dead_message').where('letter_id', 'in', ids).execute()
          await tx.deleteFrom('webhook_dead_letter').where('id', 'in', ids).execute()
        }
        return letters.length
      }),
  }
}

async function listLetters(
  db: ControlDatabase,
  projectId: number,
  request: Parameters<DeadLetterStore['list']>[1],
): Promise<readonly DeadLetterSummary[]> {
  const rows = await chosenLetters(db, projectId, { ids: null, channel: request.channel })
    .select(['died_at', 'attempts', 'last_status', 'last_error', 'redrive_at'])
    .select((eb) =>
      eb
        .selectFrom('webhook_dead_message')
        .select((eb) => eb.fn.countAll().as('count'))
        .whereRef('webhook_dead_message.letter_id', '=', 'webhook_dead_letter.id')
        .where('is_superseded', '=', 0)
        .as('messages'),
    )
    .where('webhook_dead_letter.id', '>', request.afterId ?? 0)
    .where('died_at', '>', request.nowMs - DEAD_LETTER_RETENTION_MS)
    .orderBy('webhook_dead_letter.id')
    .limit(request.limit)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    channel: request.channel,
    diedAt: row.died_at,
    attempts: row.attempts,
    lastStatus: row.last_status,
    lastError: row.last_error,
    messages: Number(row.messages),
    redriveAt: row.redrive_at,
  }))
}

/**
 * The next letters, which are pulled by that; null when another pull has taken all of them since they were found, so that others are next: two at
 * once answer with different ones while there are enough. Who walks from id to id gets every one (DD-2).
 */
async function takeLetters(
  tx: ControlTransaction,
  projectId: number,
  request: PullRequest,
): Promise<readonly DeadLetter[] | null> {
  const found = await findLetters(tx, projectId, request)
  if (found.length === 0) return []
  // A pull makes them later than all that were pulled before.
  const latest = found.reduce((max, letter) => Math.max(max, letter.last_pulled_at), 0)
  const taken = await lockingRows(
    tx,
    tx
      .selectFrom('webhook_dead_letter')
      .select('id')
      .where(
        'id',
        'in',
        found.map(({ id }) => id),
      )
      .$if(request.afterId === null, (query) => query.where('last_pulled_at', '<=', latest))
      .orderBy('id'),
  ).execute()
  if (taken.length === 0) return null
  const ids = taken.map(({ id }) => id)
  await markPulled(tx, projectId, ids, request.nowMs)
  const isTaken = new Set(ids)
  return withBodies(
    tx,
    found.filter(({ id }) => isTaken.has(id)),
  )
}

async function findLetters(tx: ControlTransaction, projectId: number, request: PullRequest) {
  const { channel, afterId } = request
  let lanes = tx.selectFrom('webhook_lane').select(['id', 'name']).where('project_id', '=', projectId)
  if (channel !== null) lanes = lanes.where('name', '=', channel)
  const names = new Map((await lanes.execute()).map(({ id, name }) => [id, name]))
  if (names.size === 0) return []
  let letters = tx
    .selectFrom('webhook_dead_letter as letter')
    .select([
      'letter.id',
      'letter.lane_id',
      'died_at',
      'attempts',
      'last_status',
      'last_error',
      'last_pulled_at',
    ])
    .where('letter.project_id', '=', projectId)
    .where('letter.lane_id', 'in', [...names.keys()])
    .where('died_at', '>', request.nowMs - DEAD_LETTER_RETENTION_MS)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('webhook_dead_message as message')
          .select('message.seq')
          .whereRef('message.letter_id', '=', 'letter.id')
          .where('is_superseded', '=', 0),
      ),
    )
    .limit(request.limit)
  letters =
    afterId === null
      ? letters.orderBy('last_pulled_at').orderBy('died_at').orderBy('letter.id')
      : letters.where('letter.id', '>', afterId).orderBy('letter.id')
  const rows = await letters.execute()
  return rows.map((row) => ({ ...row, channel: names.get(row.lane_id) ?? '' }))
}

/** Later than any pull before, whatever the clock did: repeated pulls walk through all letters (DD-2). */
async function markPulled(
  tx: ControlTransaction,
  projectId: number,
  ids: readonly number[],
  nowMs: number,
): Promise<void> {
  const { newest } = await tx
    .selectFrom('webhook_dead_letter')
    .select((eb) => eb.fn.max('last_pulled_at').as('newest'))
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()
  await tx
    .updateTable('webhook_dead_letter')
    .set({ last_pulled_at: Math.max(nowMs, newest + 1) })
    .where('id', 'in', ids)
    .execute()
}

async function withBodies(
  tx: ControlTransaction,
  letters: Awaited<ReturnType<typeof findLetters>>,
): Promise<readonly DeadLetter[]> {
  const ids = letters.map((letter) => letter.id)
  const messages = await tx
    .selectFrom('webhook_dead_message')
    .select(['letter_id', 'body'])
    .where('letter_id', 'in', ids)
    .where('is_superseded', '=', 0)
    .orderBy('seq')
    .execute()
  const bodies = Map.groupBy(messages, (message) => message.letter_id)
  return letters.map((letter) => ({
    id: letter.id,
    channel: letter.channel,
    diedAt: letter.died_at,
    attempts: letter.attempts,
    lastStatus: letter.last_status,
    lastError: letter.last_error,
    bodies: (bodies.get(letter.id) ?? []).map(({ body }) => body),
  }))
}
