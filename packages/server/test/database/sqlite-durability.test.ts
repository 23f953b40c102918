import { statSync } from 'node:fs'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { unsyncedTransaction } from '../../src/database/unsynced-transaction.ts'
import type { ControlDatabase, ControlTransaction } from '../../src/database/database.ts'
import { openSqlite, type TestDatabase } from '../support/databases.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await openSqlite()
})
afterEach(() => database.close())

const NORMAL = 1
const FULL = 2

async function synchronous(db: ControlDatabase | ControlTransaction): Promise<number | undefined> {
  return (await sql<{ synchronous: number }>`pragma synchronous`.execute(db)).rows[0]?.synchronous
}

describe('the embedded control database', () => {
  it('waits for the disk at every commit but those that cost no more than a repetition (DL-6)', async () => {
    const { db } = database
    expect(await synchronous(db)).toBe(FULL)
    expect(await unsyncedTransaction(db, synchronous)).toBe(NORMAL)
    expect(await db.transaction().execute(synchronous)).toBe(FULL)
    await expect(unsyncedTransaction(db, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(await synchronous(db)).toBe(FULL)
  })

  it('copies its log into its file while nobody commits', async () => {
    const { db, location } = database
    const size = 4 * 1024 * 1024
    await sql`create table large (body blob)`.execute(db)
    await sql`insert into large values (zeroblob(${size}))`.execute(db)
    await expect.poll(() => statSync(location).size, { timeout: 20_000 }).toBeGreaterThan(size)
  })
})
