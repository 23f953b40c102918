import { DatabaseSync } from 'node:sqlite'
import { SqliteDialect } from 'kysely'

/**
 * Kysely on the SQLite inside Node. WAL lets other processes read while one writes; synchronous=FULL makes a commit
 * durable before it returns; a writer waits up to five seconds for another.
 */
export function createSqliteDialect(path: string): SqliteDialect {
  const database = new DatabaseSync(path, { timeout: 5000, enableForeignKeyConstraints: true })
  database.exec('pragma journal_mode = wal; pragma synchronous = full')
  return new SqliteDialect({
    database: {
      close: () => {
        database.close()
      },
      prepare: (sql) => {
        const statement = database.prepare(sql)
        return {
          reader: statement.columns().length > 0,
          all: (parameters) => statement.all(...(parameters as never[])),
          run: (parameters) => statement.run(...(parameters as never[])),
          iterate: (parameters) => statement.iterate(...(parameters as never[])) as IterableIterator<unknown>,
        }
      },
    },
  })
}
