import { sql, type Kysely } from 'kysely'
import type { DialectName } from './database.ts'

/** One step of the schema. Steps are applied once, in order, and never edited after a release. */
export interface ControlMigration {
  readonly name: string
  up(db: Kysely<unknown>, column: ColumnTypes): Promise<void>
}

/** The column types whose names differ between the dialects. */
export interface ColumnTypes {
  /** A primary key that counts up by itself. */
  readonly id: 'integer' | 'bigserial'
  readonly bytes: 'blob' | 'bytea'
}

const COLUMN_TYPES: Record<DialectName, ColumnTypes> = {
  sqlite: { id: 'integer', bytes: 'blob' },
  postgres: { id: 'bigserial', bytes: 'bytea' },
}

/** Any constant number: what instances that start together queue up behind on PostgreSQL. */
const ADVISORY_LOCK = 7_236_411_905

interface StepTable {
  readonly schema_step: { readonly name: string; readonly applied_at: number }
}

/**
 * Brings the control database to the newest schema, in one transaction: all steps or none. Instances that start
 * together wait for one another, by an advisory lock on PostgreSQL and by the write lock on SQLite. A database that
 * carries steps this release does not know is refused before anything is touched.
 */
export async function migrate(
  database: Kysely<unknown>,
  dialect: DialectName,
  steps: readonly ControlMigration[],
): Promise<void> {
  const db = database as Kysely<StepTable>
  if ((await pendingSteps(db, steps)).length === 0) return
  await db.transaction().execute(async (tx) => {
    if (dialect === 'postgres') await sql`select pg_advisory_xact_lock(${ADVISORY_LOCK})`.execute(tx)
    await tx.schema
      .createTable('schema_step')
      .ifNotExists()
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('applied_at', 'bigint', (column) => column.notNull())
      .execute()
    for (const step of await pendingSteps(tx, steps)) {
      await step.up(tx as unknown as Kysely<unknown>, COLUMN_TYPES[dialect])
      await tx.insertInto('schema_step').values({ name: step.name, applied_at: Date.now() }).execute()
    }
  })
}

async function pendingSteps(
  db: Kysely<StepTable>,
  steps: readonly ControlMigration[],
): Promise<readonly ControlMigration[]> {
  const tables = await db.introspection.getTables()
  if (!tables.some((table) => table.name === 'schema_step')) return steps
  const rows = await db.selectFrom('schema_step').select('name').execute()
  const applied = new Set(rows.map((row) => row.name))
  const unknown = [...applied].filter((name) => !steps.some((step) => step.name === name))
  if (unknown.length > 0) {
    throw new Error(
      `The control database was written by a newer release (it has ${unknown.join(', ')}). Start that release, or restore a backup.`,
    )
  }
  return steps.filter((step) => !applied.has(step.name))
}
