import { sql } from 'kysely'
import { attemptsInsert } from './attempt-store.ts'
import type { ControlDatabase } from './database.ts'
import {
  acknowledgedRanges,
  groupValues,
  IS_IN_RANGE,
  lanesUpdate,
  readNext,
  SENT_COLUMNS,
  settledGroup,
  UNLESS_NEWER,
  type ClaimedSettlement,
  type GroupValues,
  type SettledGroup,
  type UpdatedLane,
} from './lane-store-settle-group.ts'
import { rowAddress } from './row-address.ts'
import { createStatement, type StandIns } from './statement.ts'
import { WITHOUT_WAITING } from './unsynced-transaction.ts'

/** What PostgreSQL's log says of a group that could not be settled together. */
const NOT_TOGETHER =
  'a lane was taken, or a message replaced or withdrawn, while it was sent, so each is settled by itself; left the queue: '

/**
 * Applies plain settlements of several lanes on PostgreSQL by one statement over `connection`, and reads what goes next, which it does not change,
 * beside it over another of `db`. Throws, and leaves everything as it was, when one of them met what it did not expect: a claim that does not stand
 * any more, or a message that was replaced or withdrawn meanwhile. Then each is to be settled by itself.
 */
export async function settleTogether(
  db: ControlDatabase,
  connection: ControlDatabase,
  unordered: readonly ClaimedSettlement[],
): Promise<SettledGroup> {
  // In order of lanes, and each in order of sequence, as everybody locks messages.
  const settlements = unordered.toSorted((a, b) => a.claim.laneId - b.claim.laneId)
  const reading = readNext(db, settlements)
  reading.catch(() => undefined)
  const { rows } = await settle(connection, groupValues(settlements))
  return settledGroup(settlements, rows, await reading)
}

const settle = createStatement((group: StandIns<GroupValues>, db) => {
  const address = rowAddress(db, 'message')
  return sql<UpdatedLane>`
    with updated as (${lanesUpdate(db, group)}),
    removed as (
      delete from webhook_message as message using (
        select waiting.*, range.sent_at from ${acknowledgedRanges(db, group)} as range
        cross join lateral (
          select message.seq, ${address} as row_address from webhook_message as message where ${IS_IN_RANGE} order by message.seq
        ) as waiting
      ) as acknowledged
      where ${address} = acknowledged.row_address and message.seq = acknowledged.seq
      returning message.lane_id, message.event_id, message.seq, message.version, message.hash, acknowledged.sent_at
    ),
    recorded as (
      insert into webhook_sent (${SENT_COLUMNS}, sent_at)
      select ${SENT_COLUMNS}, sent_at from removed order by lane_id, event_id ${UNLESS_NEWER}
    ),
    attempted as (${attemptsInsert(db, group.attempts)}),
    counted as (
      select (select count(*) from updated) as lanes, (select count(*) from removed) as messages
    )
    select updated.*,
      case when counted.lanes = ${group.laneCount} and counted.messages = ${group.messageCount} then true
        else cast(concat(${NOT_TOGETHER}::text, counted.messages) as boolean) end as is_whole
    from counted left join updated on true
    where ${WITHOUT_WAITING}`.compile(db)
})
