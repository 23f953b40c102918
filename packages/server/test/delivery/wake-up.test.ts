import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createWakeUp, type WakeUp } from '../../src/database/wake-up.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'

const postgres = controlDatabases.filter(({ name }) => name === 'postgres')

describe.each(postgres)('waking workers of other processes, on $name', ({ open }) => {
  let database: TestDatabase
  let sender: WakeUp
  let listener: WakeUp

  beforeEach(async () => {
    database = await open()
    sender = createWakeUp(database.location, silentLogger)
    listener = createWakeUp(database.location, silentLogger)
  })
  afterEach(async () => {
    await Promise.all([sender.stop(), listener.stop()])
    await database.close()
  })

  it('reaches a worker that listens, also after its connection was broken (DL-7)', async () => {
    const onWake = vi.fn<() => void>()
    listener.listen(onWake)
    // Once when it begins to listen.
    await vi.waitFor(() => expect(onWake).toHaveBeenCalledTimes(1), { timeout: 30_000 })
    sender.send()
    await vi.waitFor(() => expect(onWake).toHaveBeenCalledTimes(2), { timeout: 30_000 })
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(database.db)
    await vi.waitFor(() => expect(onWake).toHaveBeenCalledTimes(3), { timeout: 30_000 })
    // Its own connection was broken as well: the first call may be the one that notices.
    await vi.waitFor(
      () => {
        sender.send()
        expect(onWake.mock.calls.length).toBeGreaterThan(3)
      },
      { timeout: 30_000 },
    )
  }, 120_000)
})
