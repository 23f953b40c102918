import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ControlDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { MIGRATIONS } from '../../src/database/migrations.ts'
import { createSqliteDialect } from '../../src/database/sqlite-dialect.ts'
import { createLogSync } from '../../src/database/sqlite-log-sync.ts'
import { unsyncedTransaction } from '../../src/database/unsynced-transaction.ts'
import { createBench, exported } from '../delivery/bench.ts'
import { openSqlite } from '../support/databases.ts'

/** A disk whose answers are given by hand. */
function manualDisk() {
  const calls: PromiseWithResolvers<void>[] = []
  let called = Promise.withResolvers<void>()
  let answered = 0
  async function next(): Promise<PromiseWithResolvers<void> | undefined> {
    if (calls.length <= answered) await called.promise
    answered += 1
    return calls[answered - 1]
  }
  const disk = {
    calls,
    /** Answers at once from now on. */
    isQuick: false,
    sync() {
      if (disk.isQuick) return Promise.resolve()
      const call = Promise.withResolvers<void>()
      calls.push(call)
      called.resolve()
      called = Promise.withResolvers<void>()
      return call.promise
    },
    /** Answers the oldest call that has none, and waits for one if need be. */
    answer: async () => (await next())?.resolve(),
    refuse: async (reason: Error) => (await next())?.reject(reason),
  }
  return disk
}

/** Whether a promise is settled, once everything that could settle it has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  void promise.then(
    () => (settled = true),
    () => (settled = true),
  )
  await new Promise(setImmediate)
  return settled
}

describe('the log of the embedded control database', () => {
  it('makes a commit that comes while the disk is busy wait for the next turn of the disk, together with others', async () => {
    const disk = manualDisk()
    const log = createLogSync(disk.sync)
    log.noteCommit()
    const first = log.synced()
    log.noteCommit()
    const second = log.synced()
    log.noteCommit()
    const third = log.synced()
    expect(disk.calls).toHaveLength(1)
    await disk.answer()
    await first
    expect(await isSettled(second)).toBe(false)
    expect(disk.calls).toHaveLength(2)
    await disk.answer()
    await Promise.all([second, third])
    expect(disk.calls).toHaveLength(2)
  })

  it('asks nothing of the disk when nothing was committed', async () => {
    const disk = manualDisk()
    const log = createLogSync(disk.sync)
    await log.synced()
    expect(disk.calls).toHaveLength(0)
  })

  it('makes whoever asks while a commit is under way wait for it', async () => {
    const disk = manualDisk()
    const log = createLogSync(disk.sync)
    log.noteCommit()
    const commit = log.synced()
    const reader = log.synced()
    expect(await isSettled(reader)).toBe(false)
    await disk.answer()
    await Promise.all([commit, reader])
  })

  it('does not trust a disk again that has refused', async () => {
    const disk = manualDisk()
    const log = createLogSync(disk.sync)
    log.noteCommit()
    const refused = log.synced()
    await disk.refuse(new Error('EIO'))
    await expect(refused).rejects.toThrow('EIO')
    await expect(log.synced()).rejects.toThrow('EIO')
    log.noteCommit()
    await expect(log.synced()).rejects.toThrow('EIO')
    expect(disk.calls).toHaveLength(1)
  })
})

describe('the embedded control database', () => {
  let directory: string
  let disk: ReturnType<typeof manualDisk>
  let db: ControlDatabase
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'millrace-durability-'))
    disk = manualDisk()
    const logFile = { sync: disk.sync, close: () => Promise.resolve() }
    db = new Kysely({ dialect: createSqliteDialect(join(directory, 'control.sqlite'), logFile) })
    const created = sql`create table kept (one integer)`.execute(db)
    await disk.answer()
    await created
  })
  afterEach(async () => {
    disk.isQuick = true
    for (const call of disk.calls) call.resolve()
    await db.destroy()
    rmSync(directory, { recursive: true })
  })

  const insert = sql`insert into kept values (1)`
  const count = async () =>
    (await sql<{ count: number }>`select count(*) as count from kept`.execute(db)).rows[0]?.count

  it('answers whoever commits when the disk has it, and lets others go on meanwhile (DL-6)', async () => {
    const commits = [
      insert.execute(db),
      db.transaction().execute((tx) => insert.execute(tx)),
      insert.execute(db),
    ]
    // Answered although the disk has not answered yet.
    expect(await count()).toBe(3)
    for (const commit of commits) expect(await isSettled(commit)).toBe(false)
    await disk.answer()
    await commits[0]
    await disk.answer()
    await Promise.all(commits)
  })

  it('does not make those wait for the disk whose commits cost no more than a repetition (DL-6)', async () => {
    await unsyncedTransaction(db, (tx) => insert.execute(tx))
    await expect(unsyncedTransaction(db, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    const next = insert.execute(db)
    expect(await isSettled(next)).toBe(false)
    await disk.answer()
    await next
    expect(await count()).toBe(2)
  })

  it('hands nothing out to be sent that the disk does not have yet, because its event id could be given to another (EV-1)', async () => {
    disk.isQuick = true
    await migrate(db as unknown as Kysely<unknown>, 'sqlite', MIGRATIONS)
    const delivery = createBench({ db })
    await delivery.configure()
    disk.isQuick = false
    const accepting = delivery.enqueue(exported(1))
    const claiming = delivery.claim()
    await expect.poll(() => disk.calls.length).toBe(2)
    expect(await isSettled(claiming)).toBe(false)
    await disk.answer()
    await accepting
    expect(await claiming).toHaveLength(1)
  })

  it('does not answer a commit that the disk refused, nor any after it', async () => {
    const refused = insert.execute(db)
    await disk.refuse(new Error('EIO'))
    await expect(refused).rejects.toThrow('EIO')
    await expect(insert.execute(db)).rejects.toThrow('EIO')
  })
})

describe('the file of the embedded control database', () => {
  it('is brought up to date from the log while nobody commits', async () => {
    const { db, location, close } = await openSqlite()
    try {
      const size = 4 * 1024 * 1024
      await sql`create table large (body blob)`.execute(db)
      await sql`insert into large values (zeroblob(${size}))`.execute(db)
      await expect.poll(() => statSync(location).size, { timeout: 20_000 }).toBeGreaterThan(size)
    } finally {
      await close()
    }
  })
})
