import { connect, createServer, type AddressInfo } from 'node:net'
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

it('runs a statement that begins a transaction inside of it, prepared or not', async () => {
  await sql`create table number (value bigint primary key)`.execute(database.db)
  const insert = (db: ControlDatabase, value: number) => sql`insert into number values (${value})`.execute(db)
  const insertThen = (value: number, then: () => unknown) =>
    database.db.transaction().execute(async (tx) => {
      await insert(tx, value)
      then()
    })
  for (const value of [1, 2, 3, 4, 5]) {
    await expect(
      insertThen(value, () => {
        throw new Error('undone')
      }),
    ).rejects.toThrow('undone')
    await insertThen(value, () => undefined)
    await expect(insertThen(value, () => undefined)).rejects.toThrow('duplicate key')
  }
  const { rows } = await sql<{ value: number }>`select value from number order by value`.execute(database.db)
  expect(rows.map(({ value }) => value)).toEqual([1, 2, 3, 4, 5])
})

it('runs no statement whose transaction could not begin, and goes on with the connection', async () => {
  await sql`create table number (value bigint primary key)`.execute(database.db)
  const relay = await startRelay(new URL(database.location))
  const other = await openDatabase(relay.location)
  const insert = (value: number) =>
    other.db.transaction().execute((tx) => sql`insert into number values (${value})`.execute(tx))
  try {
    // Sent as it is at first, and prepared later.
    for (const value of [1, 2, 3, 4, 5]) {
      relay.isGarbling = true
      await expect(insert(value)).rejects.toThrow('syntax error at or near "begun"')
      relay.isGarbling = false
      await insert(value + 10)
    }
    const { rows } = await sql<{ value: number }>`select value from number order by value`.execute(other.db)
    expect(rows.map(({ value }) => value)).toEqual([11, 12, 13, 14, 15])
    expect(relay.connections).toBe(1)
  } finally {
    await other.close()
    await relay.close()
  }
})

/** A way to PostgreSQL on which `begin` gets lost when it is told to. */
async function startRelay(to: URL) {
  const server = createServer((client) => {
    relay.connections += 1
    const upstream = connect(Number(to.port), to.hostname)
    client.on('data', (part) =>
      upstream.write(
        relay.isGarbling
          ? Buffer.from(part.toString('latin1').replace('begin\0', 'begun\0'), 'latin1')
          : part,
      ),
    )
    upstream.pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const location = new URL(to)
  location.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const relay = {
    location: location.href,
    isGarbling: false,
    connections: 0,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
  return relay
}

it('begins a transaction with a statement without values, and none that has no statement', async () => {
  await database.db.connection().execute(async (db) => {
    await db.transaction().execute(async (tx) => {
      await sql`create table of_transaction () `.execute(tx)
      await sql`set local lock_timeout = 1234`.execute(tx)
      const { rows } = await sql`show lock_timeout`.execute(tx)
      expect(rows).toEqual([{ lock_timeout: '1234ms' }])
    })
    await db.transaction().execute(() => Promise.resolve())
    await expect(db.transaction().execute(() => Promise.reject(new Error('undone')))).rejects.toThrow(
      'undone',
    )
    // Where a transaction is open, this is refused.
    await sql`vacuum of_transaction`.execute(db)
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
