import { sql } from 'kysely'
import type { ControlMigration } from '../migrate.ts'

/**
 * One row of a table that a crash of PostgreSQL empties, and nothing else: who finds it empty knows that leases may have been forgotten. SQLite, whose
 * only worker ends with it, needs none.
 */
export const leaseMemoryMigration: ControlMigration = {
  name: '0073-lease-memory',
  async up(db, column) {
    if (column.id !== 'bigserial') return
    await sql`
      create unlogged table webhook_lease_memory (
        id bigint primary key check (id = 1),
        claims_from_at bigint not null
      )`.execute(db)
    await sql`insert into webhook_lease_memory (id, claims_from_at) values (1, 0)`.execute(db)
  },
}
