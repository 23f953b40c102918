import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { SqliteDialect, type SqliteStatement } from 'kysely'

interface PreparedStatement {
  readonly statement: StatementSync
  readonly reader: boolean
}

/** Prepared statements kept; preparing again costs about as much as running a small statement. */
const STATEMENTS_MAX = 256

/** Pages of the file that are kept in memory; the 2 MiB of SQLite itself are read again and again under a long queue. */
const CACHE_KIBIBYTES = 32 * 1024
/** Pages of 4 KiB in the log before whoever commits copies them into the file. */
const CHECKPOINT_PAGES = 4000

/**
 * Kysely on the SQLite inside Node. WAL lets other processes read while one writes; synchronous=FULL makes a commit
 * durable before it returns; a writer waits up to five seconds for another.
 */
export function createSqliteDialect(path: string): SqliteDialect {
  const database = new DatabaseSync(path, { timeout: 5000, enableForeignKeyConstraints: true })
  database.exec('pragma journal_mode = wal; pragma synchronous = full')
  database.exec(`pragma cache_size = -${CACHE_KIBIBYTES}; pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  const statements = new Map<string, PreparedStatement>()

  function prepared(sql: string): PreparedStatement {
    const statement = statements.get(sql) ?? prepare(sql)
    statements.delete(sql)
    statements.set(sql, statement)
    if (statements.size > STATEMENTS_MAX) statements.delete(statements.keys().next().value ?? '')
    return statement
  }

  /** Whether a statement answers rows is asked once, because SQLite describes every column for it. */
  function prepare(sql: string): PreparedStatement {
    const statement = database.prepare(sql)
    return { statement, reader: statement.columns().length > 0 }
  }

  return new SqliteDialect({
    database: {
      close: () => {
        statements.clear()
        database.close()
      },
      prepare: (sql): SqliteStatement => {
        // Takes effect when it is prepared, so not from the statements that are kept.
        if (sql.startsWith('pragma synchronous = ')) return executedWhenRun(() => database.exec(sql))
        // A deferred transaction that turns into a writer fails at once, without waiting, when another process wrote.
        const { statement, reader } = prepared(sql === 'begin' ? 'begin immediate' : sql)
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
  })
}

function executedWhenRun(execute: () => void): SqliteStatement {
  return {
    reader: false,
    all: () => [],
    run: () => (execute(), { changes: 0, lastInsertRowid: 0 }),
    iterate: () => [].values(),
  }
}
