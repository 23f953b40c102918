import { sql, type RawBuilder, type Selectable } from 'kysely'
import type { ControlTransaction } from './database.ts'
import { givenRows } from './given-rows.ts'
import { joinNewestRow, newestRow, type LaneTable } from './newest-row.ts'
import { rowAddress, type RowAddress } from './row-address.ts'
import type { DeliveryTables } from './schema/delivery.ts'

/** Where the numbers of a lane have come to: taken from in memory, and written once when all are taken. */
export interface LaneCounters {
  readonly laneId: number
  /** Of the row, as it is locked. */
  readonly rowAddress: RowAddress
  nextSeq: number
  nextChunk: number
  /** Bytes of all messages that ever joined the queue. */
  nextByte: number
}

/** A lane's counters as a row of {@link COUNTER_COLUMNS}. */
export type CounterRow = Selectable<DeliveryTables['webhook_lane_counter']> & {
  readonly row_address: RowAddress
}

/** What is read of the counters that {@link joinCounters} joins. */
export const COUNTER_COLUMNS = sql`
  counter.lane_id, counter.next_seq, counter.next_chunk, counter.next_byte, counter.row_address`

/** {@link LaneCounters} from the row that holds them. */
export function countersFromRow(row: CounterRow): LaneCounters {
  return {
    laneId: row.lane_id,
    rowAddress: row.row_address,
    nextSeq: row.next_seq,
    nextChunk: row.next_chunk,
    nextByte: row.next_byte,
  }
}

/** Each change raises the next sequence number. */
const COUNTERS: LaneTable = { name: 'webhook_lane_counter', rising: 'next_seq' }

/**
 * The row of counters of a lane and its `row_address` as `counter`, to be joined with a table that has the lane's id; on PostgreSQL it is locked
 * until the transaction ends.
 */
export function joinCounters(tx: ControlTransaction, laneId: RawBuilder<number>): RawBuilder<unknown> {
  return joinNewestRow(tx, COUNTERS, laneId, 'counter', sql`for update`)
}

/** How many bytes ever joined the queue of a lane; not locked. */
export function newestByte(laneId: RawBuilder<number>): RawBuilder<number> {
  return sql`(${newestRow(COUNTERS, laneId, sql`newest.next_byte`)})`
}

/** The next chunk of ids of a lane, which each chunk that is recorded raises; not locked. */
export function newestChunk(laneId: RawBuilder<number>): RawBuilder<number> {
  return sql`(${newestRow(COUNTERS, laneId, sql`newest.next_chunk`)})`
}

/**
 * Reads the counters of lanes and keeps them locked until the transaction ends, in order of the lanes' ids, as everybody does: the order of
 * the sequence numbers is then the order of the commits, and no reader's cursor passes one that comes later.
 */
export async function lockCounters(
  tx: ControlTransaction,
  laneIds: readonly number[],
): Promise<ReadonlyMap<number, LaneCounters>> {
  const given = givenRows(
    tx,
    { lane_id: 'bigint' },
    laneIds.toSorted((a, b) => a - b).map((laneId) => [laneId]),
  )
  const { rows } = await sql<CounterRow>`
    select ${COUNTER_COLUMNS}
    from ${given} as given ${joinCounters(tx, sql<number>`given.lane_id`)}`.execute(tx)
  return new Map(rows.map((row) => [row.lane_id, countersFromRow(row)]))
}

/** Locks the counters of one lane, as {@link lockCounters} does. */
export async function lockLane(tx: ControlTransaction, laneId: number): Promise<LaneCounters> {
  return countersOf(await lockCounters(tx, [laneId]), laneId)
}

/** Those of a lane among counters that are locked. Throws where they are not. */
export function countersOf(counters: ReadonlyMap<number, LaneCounters>, laneId: number): LaneCounters {
  const ofLane = counters.get(laneId)
  if (ofLane === undefined) throw new Error(`the counters of lane ${laneId} are not locked`)
  return ofLane
}

/** The statement that writes counters which {@link lockCounters} read. */
export function countersUpdate(
  tx: ControlTransaction,
  counters: readonly LaneCounters[],
): RawBuilder<unknown> {
  const given = givenRows(
    tx,
    {
      row_address: 'tid',
      next_seq: 'bigint',
      next_chunk: 'bigint',
      next_byte: 'bigint',
    },
    counters.map((lane) => [lane.rowAddress, lane.nextSeq, lane.nextChunk, lane.nextByte]),
  )
  return sql`
    update webhook_lane_counter
    set next_seq = given.next_seq, next_chunk = given.next_chunk, next_byte = given.next_byte
    from ${given} as given
    where ${rowAddress(tx, 'webhook_lane_counter')} = given.row_address`
}
