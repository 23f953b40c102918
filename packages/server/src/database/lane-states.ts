import { sql, type RawBuilder } from 'kysely'

/**
 * The state of a lane as `state`, to be joined with a table that has the lane's id on PostgreSQL. The newest first: the key has the epoch, which each
 * claim raises, so that the versions which the row had before, and which are kept for long while somebody keeps a snapshot open, lie
 * behind it and are not read.
 */
export function joinNewestState(laneId: RawBuilder<number>): RawBuilder<unknown> {
  return sql`cross join lateral (${newest(laneId, sql`*`)}) as state`
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
