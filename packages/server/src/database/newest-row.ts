import { sql, type RawBuilder } from 'kysely'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { hasRowLocks } from './lane-store-locks.ts'
import { rowAddress } from './row-address.ts'

/**
 * A table with one row a lane, whose key is the lane and a number that changes raise. On PostgreSQL the newest version of a row is then found
 * first: those which it had before, and which are kept for long while somebody keeps a snapshot open, lie behind it and are not read.
 */
export interface LaneTable {
  readonly name: 'webhook_lane_counter' | 'webhook_lane_state'
  readonly rising: 'next_seq' | 'epoch'
}

/** A query of columns of `newest`, the row of a lane. */
export function newestRow(
  { name, rising }: LaneTable,
  laneId: RawBuilder<number>,
  columns: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select ${columns} from ${sql.table(name)} as newest where newest.lane_id = ${laneId}
    order by ${sql.ref(`newest.${rising}`)} desc limit 1`
}

/** The row of a lane and its `row_address` as `alias`, to be joined with a table that has the lane's id. `lock` is for PostgreSQL. */
export function joinNewestRow(
  db: ControlDatabase | ControlTransaction,
  table: LaneTable,
  laneId: RawBuilder<number>,
  alias: string,
  lock: RawBuilder<unknown> = sql``,
): RawBuilder<unknown> {
  const columns = sql`newest.*, ${rowAddress(db, 'newest')} as row_address`
  const as = sql.ref(alias)
  if (hasRowLocks(db)) return sql`cross join lateral (${newestRow(table, laneId, columns)} ${lock}) as ${as}`
  return sql`
    join (select ${columns} from ${sql.table(table.name)} as newest) as ${as} on ${as}.lane_id = ${laneId}`
}
