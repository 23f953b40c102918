import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import { Pool, types } from 'pg'
import { migrate } from './migrate.ts'
import { MIGRATIONS } from './migrations.ts'
import { createPreparingClient } from './preparing-client.ts'
import type { ControlSchema } from './schema.ts'
import { embeddedAdapterOf } from './sqlite-adapter.ts'
import { createSqliteCheckpointer } from './sqlite-checkpointer.ts'
import { createSqliteDialect } from './sqlite-dialect.ts'

/** What a statement can be built on: the database, or a transaction of it. */
export type ControlDatabase = Kysely<ControlSchema>
export type ControlTransaction = Transaction<ControlSchema>

export type DialectName = 'sqlite' | 'postgres'

/** An open control database and what differs between the two dialects. */
export interface OpenDatabase {
  readonly db: ControlDatabase
  readonly dialect: DialectName
  /** Resolves when the database answers. */
  ping(): Promise<void>
  close(): Promise<void>
}

// int8 comes back as text by default; ids, counts, epoch milliseconds and event ids (EV-1) all stay below 2^53.
types.setTypeParser(types.builtins.INT8, Number)
// What sum() of an int8 is. No column of ours is numeric.
types.setTypeParser(types.builtins.NUMERIC, Number)

/** Opens and migrates the control database: a `postgres://` address, or the path of a SQLite file (`:memory:` for none). */
export async function openDatabase(location: string): Promise<OpenDatabase> {
  const dialect = /^postgres(ql)?:\/\//.test(location) ? 'postgres' : 'sqlite'
  if (dialect === 'sqlite' && location !== ':memory:') {
    mkdirSync(dirname(location), { recursive: true, mode: 0o700 })
  }
  const db = new Kysely<ControlSchema>({
    dialect:
      dialect === 'postgres'
        ? new PostgresDialect({ pool: createPool(location) })
        : createSqliteDialect(location),
  })
  try {
    await migrate(db as unknown as Kysely<unknown>, dialect, MIGRATIONS)
  } catch (error) {
    await db.destroy()
    throw error
  }
  const checkpointer =
    dialect === 'sqlite' && location !== ':memory:' ? createSqliteCheckpointer(location) : null
  return {
    db,
    dialect,
    async ping() {
      await sql`select 1`.execute(db)
      // A disk that has refused once is not trusted again.
      await embeddedAdapterOf(db)?.driver.synced()
    },
    async close() {
      await checkpointer?.close()
      await db.destroy()
    },
  }
}

/**
 * How PostgreSQL answers statements, all of which want few rows of what may be many: not in ways that read a whole table, or a whole lane to
 * sort it, where a key gives what is wanted in its order. So one plan serves for all parameters, also one that was made when a table was
 * empty. What is ruled out has a cost beyond all bounds where nothing else is left, for which PostgreSQL would compile the statement.
 */
const PLANS = `set plan_cache_mode = force_generic_plan; ${[
  'enable_incremental_sort',
  'enable_bitmapscan',
  'enable_seqscan',
  'enable_hashjoin',
  'enable_mergejoin',
  'enable_material',
  'jit',
]
  .map((way) => `set ${way} = off`)
  .join('; ')}`

function createPool(connectionString: string): Pool {
  const pool = new Pool({
    connectionString,
    max: 10,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    application_name: 'millrace',
    Client: createPreparingClient(connectionString),
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, whatever its type says
    onConnect: async (client) => void (await client.query(PLANS)),
  })
  // Without a listener an idle connection that the server closes would end the process. The pool has already dropped
  // it, and the next statement opens another or fails with the reason.
  pool.on('error', () => {})
  // The same for a connection that is in use but between two statements; its next one fails with the reason.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
