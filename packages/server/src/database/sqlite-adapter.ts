import { SqliteAdapter } from 'kysely'
import type { ControlDatabase, ControlTransaction } from './database.ts'
import type { SyncingSqliteDriver } from './sqlite-driver.ts'
import type { TableWrites } from './table-writes.ts'

/** How stores get at what the embedded database knows beyond SQL. */
export class EmbeddedSqliteAdapter extends SqliteAdapter {
  readonly writes: TableWrites
  readonly driver: SyncingSqliteDriver

  constructor(writes: TableWrites, driver: SyncingSqliteDriver) {
    super()
    this.writes = writes
    this.driver = driver
  }

  /** The driver itself lets one caller after the other have the connection. */
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

/** Null on PostgreSQL, where other processes write as often as this one. */
export function embeddedAdapterOf(db: ControlDatabase | ControlTransaction): EmbeddedSqliteAdapter | null {
  const { adapter } = db.getExecutor()
  return adapter instanceof EmbeddedSqliteAdapter ? adapter : null
}
