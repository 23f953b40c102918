import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'

/**
 * The condition for messages behind the cursor of a lane that go with it, for a query in order of `seq` with a limit. In these words,
 * because whatever a planner believes of a queue that fills and empties is wrong soon: of all indexes only the key has both columns, so
 * it is the cheapest by any belief, and the case is an expression of which nothing is believed. What has left a queue may still be
 * in every index, and is for long while somebody keeps a snapshot open; nothing may be read through it that lies before the cursor.
 */
export function isBehindCursor(
  laneId: Expression<number> | number,
  cursorSeq: Expression<number> | number,
): RawBuilder<SqlBool> {
  return sql`webhook_message.lane_id = ${laneId} and webhook_message.seq > ${cursorSeq}
    and case when webhook_message.shelved_until_at is null then true end`
}

/** True when something {@link isBehindCursor}. A query of its own, which no planner joins with what is around it. */
export function waitsBehind(laneId: Expression<number>, cursorSeq: Expression<number>): RawBuilder<SqlBool> {
  return sql`(
    select webhook_message.seq from webhook_message where ${isBehindCursor(laneId, cursorSeq)}
    order by webhook_message.seq limit 1) is not null`
}

/** When the first shelved message of a lane is due (DL-4). */
export function firstDueAt(laneId: Expression<number>): RawBuilder<number | null> {
  return sql`(
    select webhook_message.shelved_until_at from webhook_message
    where webhook_message.lane_id = ${laneId} and webhook_message.shelved_until_at is not null
    order by webhook_message.shelved_until_at limit 1)`
}
