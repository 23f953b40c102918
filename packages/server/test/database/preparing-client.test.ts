import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openDatabase, type ControlDatabase } from '../../src/database/database.ts'
import { openPostgres, type TestDatabase } from '../support/databases.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await openPostgres()
})
afterEach(() => database.close())

async function doubled(db: ControlDatabase, given: number): Promise<number | undefined> {
  const { rows } = await sql<{ doubled: number }>`select ${given}::bigint * 2 as doubled`.execute(db)
  return rows[0]?.doubled
}

async function countPrepared(db: ControlDatabase): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_prepared_statements where statement like '%as doubled'`.execute(db)
  return rows[0]?.count ?? Number.NaN
}

it('prepares what comes again, and only that', async () => {
  await database.db.connection().execute(async (db) => {
    expect([await doubled(db, 1), await countPrepared(db)]).toEqual([2, 0])
    expect([await doubled(db, 2), await doubled(db, 3), await doubled(db, 4)]).toEqual([4, 6, 8])
    expect(await countPrepared(db)).toBe(1)
  })
})

it('sends a statement once more that the server did not know, as behind a pooler, and does without from then on', async () => {
  await database.db.connection().execute(async (db) => {
    for (const given of [1, 2, 3]) expect(await doubled(db, given)).toBe(given * 2)
    await sql`deallocate all`.execute(db)
    for (const given of [4, 5, 6]) expect(await doubled(db, given)).toBe(given * 2)
    expect(await countPrepared(db)).toBe(0)
  })
})

it('fails a transaction whose statement the server did not know, and no other', async () => {
  await database.db.connection().execute(async (db) => {
    for (const given of [1, 2, 3]) expect(await doubled(db, given)).toBe(given * 2)
    await sql`deallocate all`.execute(db)
    const run = () => db.transaction().execute((tx) => doubled(tx, 4))
    await expect(run()).rejects.toThrow('does not exist')
    for (const given of [8, 8, 8]) expect(await run()).toBe(given)
    expect(await countPrepared(db)).toBe(0)
  })
})

it('prepares nothing where the address says so', async () => {
  const other = await openDatabase(`${database.location}?prepare=false`)
  try {
    await other.db.connection().execute(async (db) => {
      for (const given of [1, 2, 3, 4]) expect(await doubled(db, given)).toBe(given * 2)
      expect(await countPrepared(db)).toBe(0)
    })
  } finally {
    await other.close()
  }
})
