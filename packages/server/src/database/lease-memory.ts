import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import { hasRowLocks } from './lane-store-locks.ts'

/**
 * Leases do not wait for the disk, so PostgreSQL may forget in a crash that a lane was claimed, whose owner goes on sending all the same. A
 * table that no crash leaves its row tells of it: who finds none notes until when what was forgotten may last (DL-6). Given out is
 * nothing until then. To be had as a part of a statement that claims.
 */
export function noteForgottenLeases(leaseUntilAt: Expression<number>): RawBuilder<unknown> {
  return sql`
    insert into webhook_lease_memory (id, claims_from_at) select 1, ${leaseUntilAt}::bigint
    where not exists (select 1 from webhook_lease_memory where id = 1)
    on conflict (id) do nothing`
}

/** No lease that was forgotten lasts any more. An instant that is further away than any lease was noted before the clock was set back. */
export function areLeasesKnown(
  nowMs: Expression<number>,
  leaseUntilAt: Expression<number>,
): RawBuilder<SqlBool> {
  return sql`exists (
    select 1 from webhook_lease_memory
    where id = 1 and (claims_from_at <= ${nowMs} or claims_from_at > ${leaseUntilAt}))`
}

/** More than any lease. */
const BEYOND_LEASES_MS = 60_000

/**
 * What a lane settled before is known still. The same crash forgets acknowledgements, also those beside requests that go on (DL-3), and a cursor
 * that went past these would leave their messages in the queue for ever.
 */
export function areSettlementsKnown(
  db: ControlDatabase | ControlTransaction,
  nowMs: Expression<number>,
): RawBuilder<SqlBool> {
  if (!hasRowLocks(db)) return sql`1 = 1`
  return areLeasesKnown(nowMs, sql<number>`${nowMs}::bigint + ${sql.lit(BEYOND_LEASES_MS)}`)
}
