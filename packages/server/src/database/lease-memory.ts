import { sql, type Expression, type RawBuilder, type SqlBool } from 'kysely'

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
