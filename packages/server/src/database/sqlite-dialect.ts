import { constants, DatabaseSync, type StatementSync } from 'node:sqlite'
import { SqliteDialect, type SqliteDialectConfig, type SqliteStatement } from 'kysely'
import { EmbeddedSqliteAdapter } from './sqlite-adapter.ts'
import { SyncingSqliteDriver } from './sqlite-driver.ts'
import { createLogFile, type LogFile } from './sqlite-log-file.ts'
import { createTableWrites, type StatementTables } from './table-writes.ts'

interface PreparedStatement extends StatementTables {
  readonly statement: StatementSync
  readonly reader: boolean
}

/** Prepared statements kept; preparing again costs about as much as running a small statement. */
const STATEMENTS_MAX = 256

/** Pages of the file that are kept in memory; the 2 MiB of SQLite itself are read again and again under a long queue. */
const CACHE_KIBIBYTES = 32 * 1024
/** Pages of 4 KiB in the log before whoever commits copies them into the file. */
const CHECKPOINT_PAGES = 4000

const CHANGES: ReadonlySet<number> = new Set([
  constants.SQLITE_INSERT,
  constants.SQLITE_UPDATE,
  constants.SQLITE_DELETE,
])

/**
 * Kysely on the SQLite inside Node. WAL lets other processes read while one writes; a commit is durable before its caller is
 * answered, see {@link SyncingSqliteDriver}; a writer waits up to five seconds for another.
 */
export function createSqliteDialect(path: string, logFile: LogFile = createLogFile(path)): SqliteDialect {
  const database = new DatabaseSync(path, { timeout: 5000, enableForeignKeyConstraints: true })
  database.exec('pragma journal_mode = wal; pragma synchronous = normal')
  database.exec(`pragma cache_size = -${CACHE_KIBIBYTES}; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  const statements = new Map<string, PreparedStatement>()
  /** What the statement that is being prepared turns out to do, cascades included. */
  let [reads, changes] = [new Set<string>(), new Set<string>()]
  database.setAuthorizer((action, table) => {
    if (table !== null && action === constants.SQLITE_READ) reads.add(table)
    if (table !== null && CHANGES.has(action)) changes.add(table)
    return constants.SQLITE_OK
  })

  function prepared(sql: string): PreparedStatement {
    const statement = statements.get(sql) ?? prepare(sql)
    statements.delete(sql)
    statements.set(sql, statement)
    if (statements.size > STATEMENTS_MAX) statements.delete(statements.keys().next().value ?? '')
    return statement
  }

  /** Whether a statement answers rows is asked once, because SQLite describes every column for it. */
  function prepare(sql: string): PreparedStatement {
    ;[reads, changes] = [new Set(), new Set()]
    const statement = database.prepare(sql)
    return { statement, reader: statement.columns().length > 0, reads, changes }
  }

  const dataVersion = database.prepare('pragma data_version')
  const writes = createTableWrites(prepared, () => dataVersion.get()?.['data_version'])

  const config: SqliteDialectConfig = {
    database: {
      close: () => {
        statements.clear()
        database.close()
      },
      prepare: (sql): SqliteStatement => {
        // A deferred transaction that turns into a writer fails at once, without waiting, when another process wrote.
        const made = prepared(sql === 'begin' ? 'begin immediate' : sql)
        const { statement, reader } = made
        writes.note(made)
        if (made.changes.size > 0) driver.noteChange()
        return {
          reader,
          all: (parameters) => statement.all(...(parameters as never[])),
          run: (parameters) => statement.run(...(parameters as never[])),
          // A statement can only be stepped through once at a time, so an iterator gets its own.
          iterate: (parameters) =>
            database.prepare(sql).iterate(...(parameters as never[])) as IterableIterator<unknown>,
        }
      },
    },
  }
  const driver = new SyncingSqliteDriver(config, logFile)

  class Dialect extends SqliteDialect {
    override createAdapter(): EmbeddedSqliteAdapter {
      return new EmbeddedSqliteAdapter(writes, driver)
    }
    override createDriver(): SyncingSqliteDriver {
      return driver
    }
  }
  return new Dialect(config)
}
