import { sql } from 'kysely'
import type { QueuedBytes } from '../delivery/queue-bound.ts'
import type { ControlDatabase } from './database.ts'
import { isBehindCursor } from './lane-queue.ts'
import { newestByte } from './lane-counters.ts'
import { newestCursor } from './lane-states.ts'

/**
 * What waits behind the cursors of all lanes, in bytes: the difference between where the next message will begin and where the first that
 * waits begins. Messages that were replaced or withdrawn in between count until those before them have left.
 */
export async function measureQueuedBytes(db: ControlDatabase): Promise<readonly QueuedBytes[]> {
  const { rows } = await sql<QueuedBytes>`
    select project_id as "projectId", name as channel, next_byte - first_byte as bytes
    from (
      select lane.project_id, lane.name, ${newestByte(sql<number>`lane.id`)} as next_byte, (
        select webhook_message.first_byte from webhook_message
        where ${isBehindCursor(sql<number>`lane.id`, newestCursor(sql<number>`lane.id`))}
        order by webhook_message.seq limit 1
      ) as first_byte
      from webhook_lane as lane
    ) as standing
    where first_byte is not null`.execute(db)
  return rows
}
