import { sql } from 'kysely'
import type { ControlTransaction } from './database.ts'
import { givenRows } from './given-rows.ts'
import { hasRowLocks } from './lane-store-locks.ts'
import { slicesOf } from './outbox-slices.ts'
import { rowAddress } from './row-address.ts'

/** What a message that has left its queue was. */
export interface RemovedMessage {
  readonly seq: number
  readonly event_id: number
  readonly version: number
  readonly chain: string
  readonly block_number: number
  readonly hash: string
  readonly body: Uint8Array
}

/**
 * Takes messages out of the queue of a lane, and answers those that were there: not what was replaced or withdrawn meanwhile. `seqs` are in
 * order, as everybody locks messages.
 */
export async function removeMessages(
  tx: ControlTransaction,
  laneId: number,
  seqs: readonly number[],
): Promise<readonly RemovedMessage[]> {
  const removed: RemovedMessage[] = []
  for (const slice of slicesOf(seqs)) {
    const given = givenRows(
      tx,
      { seq: 'bigint' },
      slice.map((seq) => [seq]),
    )
    const found = hasRowLocks(tx)
      ? sql`using (
          select waiting.* from ${given} as given cross join lateral (
            select message.seq as found_seq, ${rowAddress(tx, 'message')} as row_address from webhook_message as message
            where message.lane_id = ${laneId} and message.seq between given.seq and given.seq order by message.seq
          ) as waiting
        ) as found where ${rowAddress(tx, 'webhook_message')} = found.row_address and seq = found.found_seq`
      : sql`where lane_id = ${laneId} and seq in (select seq from ${given} as given)`
    const { rows } = await sql<RemovedMessage>`
      delete from webhook_message ${found}
      returning seq, event_id, version, chain, block_number, hash, body`.execute(tx)
    removed.push(...rows)
  }
  return removed
}
