import { sql, type RawBuilder } from 'kysely'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { hasRowLocks } from './lane-store-locks.ts'
import { rowAddress } from './row-address.ts'

/**
 * The state of a lane and its `row_address` as `state`, to be joined with a table that has the lane's id. On PostgreSQL the newest first: the key
 * has the epoch, which each claim raises, so that the versions which the row had before, and which are kept for long while somebody
 * keeps a snapshot open, lie behind it and are not read.
 */
export function joinState(
  db: ControlDatabase | ControlTransaction,
  laneId: RawBuilder<number>,
): RawBuilder<unknown> {
  const columns = sql`newest.*, ${rowAddress(db, 'newest')} as row_address`
  if (!hasRowLocks(db)) {
    return sql`join (select ${columns} from webhook_lane_state as newest) as state on state.lane_id = ${laneId}`
  }
  return sql`cross join lateral (${newest(laneId, columns)}) as state`
}

/** The cursor of a lane, found in the same way. */
export function newestCursor(laneId: RawBuilder<number>): RawBuilder<number> {
  return sql`(${newest(laneId, sql`newest.cursor_seq`)})`
}

function newest(laneId: RawBuilder<number>, columns: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select ${columns} from webhook_lane_state as newest where newest.lane_id = ${laneId}
    order by newest.epoch desc limit 1`
}
