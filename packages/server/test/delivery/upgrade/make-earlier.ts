import { readFileSync } from 'node:fs'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { Pool } from 'pg'
import type { DialectName } from '../../../src/database/database.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { MIGRATIONS } from '../../../src/database/migrations.ts'
import { createSqliteDialect } from '../../../src/database/sqlite-dialect.ts'

type Row = Readonly<Record<string, string | number | null>>

/** Columns of bytes; the file has their text. */
const BYTES: ReadonlySet<string> = new Set(['body', 'answer'])
/** Tables whose ids count up by themselves. */
const COUNTING: ReadonlySet<string> = new Set(['webhook_lane', 'webhook_attempt', 'webhook_dead_letter'])

/**
 * Makes the control database of an earlier build at a location where none is: the schema up to a step, and the rows that its delivery
 * tables had, as that build wrote them.
 */
export async function makeEarlier(
  dialect: DialectName,
  location: string,
  { lastStep, rowsFile }: { readonly lastStep: string; readonly rowsFile: URL },
): Promise<void> {
  const db = new Kysely<unknown>({
    dialect:
      dialect === 'postgres'
        ? new PostgresDialect({ pool: new Pool({ connectionString: location, max: 1 }) })
        : createSqliteDialect(location),
  })
  try {
    const last = MIGRATIONS.findIndex(({ name }) => name === lastStep)
    if (last === -1) throw new Error(`there is no step ${lastStep}`)
    await migrate(db, dialect, MIGRATIONS.slice(0, last + 1))
    const tables = JSON.parse(readFileSync(rowsFile, 'utf8')) as Readonly<Record<string, readonly Row[]>>
    for (const [table, rows] of Object.entries(tables)) {
      for (const row of rows) await insert(db, table, row)
      if (dialect === 'postgres' && COUNTING.has(table)) await countOn(db, table)
    }
  } finally {
    await db.destroy()
  }
}

async function insert(db: Kysely<unknown>, table: string, row: Row): Promise<void> {
  const columns = Object.keys(row).map((name) => sql.ref(name))
  const values = Object.entries(row).map(([name, value]) =>
    BYTES.has(name) && value !== null ? Buffer.from(String(value)) : value,
  )
  await sql`insert into ${sql.table(table)} (${sql.join(columns)}) values (${sql.join(values)})`.execute(db)
}

/** Rows that say their ids leave PostgreSQL's sequence where it was. */
async function countOn(db: Kysely<unknown>, table: string): Promise<void> {
  await sql`
    select setval(pg_get_serial_sequence(${table}, 'id'), (select max(id) from ${sql.table(table)}))`.execute(
    db,
  )
}
