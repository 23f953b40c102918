import { setImmediate } from 'node:timers/promises'
import { DEAD_LETTER_RETENTION_MS } from '../delivery/dead-letter.ts'
import type { ControlDatabase } from './database.ts'
import { lockingRows } from './lane-store-locks.ts'
import { inTransaction } from './transaction.ts'
import { unsyncedTransaction } from './unsynced-transaction.ts'

/** How long attempts and the memory of what was sent are kept. */
const HISTORY_RETENTION_MS = 7 * 24 * 3_600_000

/** Rows per statement, so that nobody waits long: SQLite takes some 10 to 40 µs for each, in which this process does nothing else. */
const SLICE_ROWS = 200

/** Removes dead letters, attempts and the memory of sent messages past their retention; answers how many rows. */
export async function expireDelivery(
  db: ControlDatabase,
  nowMs: number,
  signal?: AbortSignal,
): Promise<number> {
  let count = 0
  for (const expire of [expireAttempts, expireSent, expireLetters]) {
    for (let removed = SLICE_ROWS; removed >= SLICE_ROWS; count += removed) {
      if (signal?.aborted === true) return count
      removed = await expire(db, nowMs)
      // SQLite blocks the event loop while it removes a slice; between two of them others have their turn.
      await setImmediate()
    }
  }
  return count
}

async function expireLetters(db: ControlDatabase, nowMs: number): Promise<number> {
  const letters = await db
    .selectFrom('webhook_dead_letter')
    .select('id')
    .where('died_at', '<=', nowMs - DEAD_LETTER_RETENTION_MS)
    .limit(SLICE_ROWS)
    .execute()
  const ids = letters.map(({ id }) => id)
  if (ids.length === 0) return 0
  await inTransaction(db, async (tx) => {
    const letter = tx.selectFrom('webhook_dead_letter').select('id').where('id', 'in', ids)
    await lockingRows(tx, letter.orderBy('id')).execute()
    await tx.deleteFrom('webhook_dead_message').where('letter_id', 'in', ids).execute()
    await tx.deleteFrom('webhook_dead_letter').where('id', 'in', ids).execute()
  })
  return ids.length
}

async function expireAttempts(db: ControlDatabase, nowMs: number): Promise<number> {
  const expired = db
    .selectFrom('webhook_attempt')
    .select('id')
    .where('started_at', '<=', nowMs - HISTORY_RETENTION_MS)
    .limit(SLICE_ROWS)
  const { numDeletedRows } = await unsyncedTransaction(db, (tx) =>
    tx.deleteFrom('webhook_attempt').where('id', 'in', expired).executeTakeFirstOrThrow(),
  )
  return Number(numDeletedRows)
}

async function expireSent(db: ControlDatabase, nowMs: number): Promise<number> {
  const expiredAt = nowMs - HISTORY_RETENTION_MS
  const end = await db
    .selectFrom('webhook_sent')
    .select('sent_at')
    .where('sent_at', '<=', expiredAt)
    .orderBy('sent_at')
    .offset(SLICE_ROWS - 1)
    .limit(1)
    .executeTakeFirst()
  const { numDeletedRows } = await unsyncedTransaction(db, (tx) =>
    tx
      .deleteFrom('webhook_sent')
      .where('sent_at', '<=', end?.sent_at ?? expiredAt)
      .executeTakeFirstOrThrow(),
  )
  return Number(numDeletedRows)
}
