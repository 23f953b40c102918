import type { Kysely } from 'kysely'
import { Migrator, type Migration } from 'kysely/migration'
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

/** Brings the control database to the newest schema. Instances that start together wait for one another. */
export async function migrate(
  db: Kysely<unknown>,
  dialect: DialectName,
  steps: readonly ControlMigration[],
): Promise<void> {
  const migrations: Record<string, Migration> = Object.fromEntries(
    steps.map((step) => [step.name, { up: (on: Kysely<unknown>) => step.up(on, COLUMN_TYPES[dialect]) }]),
  )
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrations) },
  }).migrateToLatest()
  if (error) throw error instanceof Error ? error : new Error('migration failed', { cause: error })
}
