import { sql, type Kysely } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase, type OpenDatabase } from '../../src/database/database.ts'
import { controlDatabases, type TestDatabase } from './databases.ts'

describe.each(controlDatabases)('control database on $name', ({ open, name }) => {
  let database: TestDatabase
  beforeEach(async () => {
    database = await open()
  })
  afterEach(() => database.close())

  const bytes = name === 'sqlite' ? sql.raw('blob') : sql.raw('bytea')

  it('returns integers as numbers and bytes as bytes, from inserts too', async () => {
    await sql`create table probe (id bigint primary key, body ${bytes} not null)`.execute(database.db)
    const id = Number.MAX_SAFE_INTEGER
    const inserted = await sql<{ id: number; body: Uint8Array }>`
      insert into probe (id, body) values (${id}, ${Buffer.from([0, 255, 10])}) returning id, body`.execute(
      database.db,
    )
    expect(inserted.rows[0]?.id).toBe(id)
    expect([...(inserted.rows[0]?.body ?? [])]).toEqual([0, 255, 10])
    const total = await sql<{
      n: number
      total: number
    }>`select count(*) as n, sum(1) as total from probe`.execute(database.db)
    expect({ ...total.rows[0] }).toEqual({ n: 1, total: 1 })
  })

  it('takes a transaction back as a whole', async () => {
    await sql`create table probe (id bigint primary key)`.execute(database.db)
    const failed = database.db.transaction().execute(async (tx) => {
      await sql`insert into probe values (1)`.execute(tx)
      throw new Error('stop')
    })
    await expect(failed).rejects.toThrow('stop')
    expect((await sql`select id from probe`.execute(database.db)).rows).toHaveLength(0)
  })

  it('lets instances that start together migrate once', async () => {
    const known = await sql<{ name: string }>`select name from schema_step`.execute(database.db)
    let runs = 0
    const create = async (db: Kysely<unknown>) => {
      runs++
      await sql`create table probe (id bigint primary key)`.execute(db)
    }
    const steps = [...known.rows.map((row) => row.name), '9999-probe'].map((step) => ({
      name: step,
      up: create,
    }))
    const others = await Promise.all([1, 2, 3].map(() => openDatabase(database.location)))
    const run = (other: OpenDatabase) => migrate(other.db as never, other.dialect, steps)
    // Two SQLite connections of one process would wait for each other with the event loop held.
    if (name === 'postgres') await Promise.all(others.map(run))
    else for (const other of others) await run(other)
    await Promise.all(others.map((other) => other.close()))
    expect(runs).toBe(1)
  })

  it('refuses a database that a newer release wrote', async () => {
    await sql`insert into schema_step (name, applied_at) values ('9999-future', 0)`.execute(database.db)
    await expect(openDatabase(database.location)).rejects.toThrow(
      'written by a newer release (it has 9999-future)',
    )
  })
})
