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

/** Both control databases, for `describe.each(controlDatabases)('… on $name', ({ open }) => …)`. */
export const controlDatabases: readonly {
  readonly name: DialectName
  readonly open: () => Promise<TestDatabase>
}[] = [
  { name: 'sqlite', open: openSqlite },
  { name: 'postgres', open: openPostgres },
]

/** A fresh, migrated SQLite database, for what does not depend on the dialect. */
export async function openSqlite(): Promise<TestDatabase> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-sqlite-'))
  const location = join(directory, 'control.sqlite')
  const database = await openDatabase(location)
  return {
    ...database,
    location,
    close: async () => {
      await database.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function openPostgres(): Promise<TestDatabase> {
  const answer = await fetch(inject('postgresBrokerUrl'))
  if (!answer.ok) throw new Error(await answer.text())
  const { url, template } = (await answer.json()) as PostgresAccess
  const name = `millrace_test_${randomBytes(8).toString('hex')}`
  await administer(url, `create database ${name} template ${template}`)
  const location = databaseUrl(url, name)
  const database = await openDatabase(location)
  return {
    ...database,
    location,
    close: async () => {
      await database.close()
      await administer(url, `drop database ${name} with (force)`)
    },
  }
}
