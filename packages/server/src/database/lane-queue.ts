import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'

/**
 * The condition for messages behind the cursor of a lane that go with it, and of all lanes with higher ids; for a query in order
 * of `lane_id, seq` with a limit. In these words, because whatever a planner believes of a queue that fills and
 * empties is wrong soon: a range of the key in its order is read from the key and not sorted, and the case is an
 * expression of which nothing is believed.
 */
export function isBehindCursor(
  laneId: Expression<number> | number,
  cursorSeq: Expression<number> | number,
): RawBuilder<SqlBool> {
  return sql`(webhook_message.lane_id, webhook_message.seq) > (${laneId}, ${cursorSeq})
    and case when webhook_message.shelved_until_at is null then true end`
}

/** The lane of the first message that is {@link isBehindCursor}: the lane itself, or another when nothing waits in it. */
export function firstLaneBehind(
  laneId: Expression<number>,
  cursorSeq: Expression<number>,
): RawBuilder<number | null> {
  return sql`(
    select webhook_message.lane_id from webhook_message where ${isBehindCursor(laneId, cursorSeq)}
    order by webhook_message.lane_id, webhook_message.seq limit 1)`
}

/** When the first shelved message of a lane is due (DL-4). */
export function firstDueAt(laneId: Expression<number>): RawBuilder<number | null> {
  return sql`(
    select webhook_message.shelved_until_at from webhook_message
    where webhook_message.lane_id = ${laneId} and webhook_message.shelved_until_at is not null
    order by webhook_message.shelved_until_at limit 1)`
}
