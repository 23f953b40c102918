import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { openDatabase, type DialectName, type OpenDatabase } from '../../src/database/database.ts'
import { administer, databaseUrl, type PostgresAccess } from './postgres-global-setup.ts'

/** A fresh, migrated, empty control database. Closing it removes it. */
export interface TestDatabase extends OpenDatabase {
  /** Opens the same database once more with `openDatabase`, as a second instance would. */
  readonly location: string
}

/** A place for a control database, in which there is none yet. */
export interface EmptyPlace {
  readonly location: string
  remove(): Promise<void>
}

/** Both control databases, for `describe.each(controlDatabases)('… on $name', ({ open }) => …)`. */
export const controlDatabases: readonly {
  readonly name: DialectName
  readonly open: () => Promise<TestDatabase>
  readonly makePlace: () => Promise<EmptyPlace>
}[] = [
  { name: 'sqlite', open: openSqlite, makePlace: () => Promise.resolve(makeDirectory()) },
  { name: 'postgres', open: openPostgres, makePlace: () => createPostgres('template0') },
]

/** A fresh, migrated SQLite database, for what does not depend on the dialect. */
export function openSqlite(): Promise<TestDatabase> {
  return openPlace(makeDirectory())
}

/** A fresh, migrated database on PostgreSQL, for what SQLite has no need of. */
export async function openPostgres(): Promise<TestDatabase> {
  return openPlace(await createPostgres(null))
}

async function openPlace({ location, remove }: EmptyPlace): Promise<TestDatabase> {
  const database = await openDatabase(location)
  return {
    ...database,
    location,
    close: async () => {
      await database.close()
      await remove()
    },
  }
}

function makeDirectory(): EmptyPlace {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-sqlite-'))
  return {
    location: join(directory, 'control.sqlite'),
    remove: async () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** A copy of `template`; of the migrated database if it is null. */
async function createPostgres(template: string | null): Promise<EmptyPlace> {
  const answer = await fetch(inject('postgresBrokerUrl'))
  if (!answer.ok) throw new Error(await answer.text())
  const access = (await answer.json()) as PostgresAccess
  const name = `millrace_test_${randomBytes(8).toString('hex')}`
  await administer(access.url, `create database ${name} template ${template ?? access.template}`)
  return {
    location: databaseUrl(access.url, name),
    remove: () => administer(access.url, `drop database ${name} with (force)`),
  }
}
