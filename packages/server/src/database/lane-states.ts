import { sql, type RawBuilder } from 'kysely'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { joinNewestRow, newestRow, type LaneTable } from './newest-row.ts'

/** Each claim raises the epoch. */
const STATES: LaneTable = { name: 'webhook_lane_state', rising: 'epoch' }

/** The state of a lane and its `row_address` as `state`, to be joined with a table that has the lane's id. */
export function joinState(
  db: ControlDatabase | ControlTransaction,
  laneId: RawBuilder<number>,
): RawBuilder<unknown> {
  return joinNewestRow(db, STATES, laneId, 'state')
}

/** The cursor of a lane, found in the same way. */
export function newestCursor(laneId: RawBuilder<number>): RawBuilder<number> {
  return sql`(${newestRow(STATES, laneId, sql`newest.cursor_seq`)})`
}
