import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ControlTransaction } from '../../src/database/database.ts'
import { inTransaction } from '../../src/database/transaction.ts'
import { openPostgres, type TestDatabase } from '../support/databases.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await openPostgres()
  await sql`create table box (id int primary key, content int not null)`.execute(database.db)
  await sql`insert into box values (1, 0), (2, 0)`.execute(database.db)
})
afterEach(() => database.close())

const contents = async () =>
  (await sql<{ content: number }>`select content from box order by id`.execute(database.db)).rows.map(
    ({ content }) => content,
  )

const raise = (tx: ControlTransaction, id: number) =>
  sql`update box set content = content + 1 where id = ${id}`.execute(tx)

it('runs a transaction again that PostgreSQL gave up to end a circle, and nothing twice (DL-6)', async () => {
  let runs = 0
  const bothHoldOne = Promise.withResolvers<undefined>()
  async function raiseBoth(ids: readonly [number, number]): Promise<void> {
    await inTransaction(database.db, async (tx) => {
      await sql`set local deadlock_timeout = '10ms'`.execute(tx)
      await raise(tx, ids[0])
      runs += 1
      if (runs === 2) bothHoldOne.resolve(undefined)
      await bothHoldOne.promise
      await raise(tx, ids[1])
    })
  }
  await Promise.all([raiseBoth([1, 2]), raiseBoth([2, 1])])
  expect(runs).toBe(3)
  expect(await contents()).toEqual([2, 2])
})

it('does not run a transaction again that failed for another reason', async () => {
  let runs = 0
  const failing = inTransaction(database.db, async (tx) => {
    runs += 1
    await raise(tx, 1)
    await sql`insert into box values (2, 0)`.execute(tx)
  })
  await expect(failing).rejects.toMatchObject({ code: '23505' })
  expect(runs).toBe(1)
  expect(await contents()).toEqual([0, 0])
})
