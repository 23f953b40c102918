import { sql } from 'kysely'
import type { Clock } from '../platform/clock.ts'
import type { ControlDatabase } from './database.ts'

/** A clock that goes by the database's. */
export interface DatabaseClock extends Clock {
  /** Reads the database's clock if that was long ago. */
  sync(): Promise<void>
}

const SYNC_EVERY_MS = 30_000

/**
 * The clock of a PostgreSQL server, for what several machines must agree on, such as the end of a lease: whatever their
 * own clocks say (DL-6). Between two readings it goes by the machine's monotonic clock.
 */
export function createDatabaseClock(db: ControlDatabase, clock: Clock): DatabaseClock {
  let offsetMs: number | null = null
  let syncedAt = Number.NEGATIVE_INFINITY
  return {
    monotonic: () => clock.monotonic(),
    now: () => (offsetMs === null ? clock.now() : Math.round(clock.monotonic() + offsetMs)),
    async sync() {
      const askedAt = clock.monotonic()
      if (offsetMs !== null && askedAt - syncedAt < SYNC_EVERY_MS) return
      const { rows } = await sql<{ now_ms: number }>`
        select extract(epoch from clock_timestamp()) * 1000 as now_ms`.execute(db)
      syncedAt = clock.monotonic()
      offsetMs = Number(rows[0]?.now_ms) - (askedAt + syncedAt) / 2
    },
  }
}
