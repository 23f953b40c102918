import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createWakeUp, type WakeUp } from '../../src/database/wake-up.ts'
import type { LaneIds } from '../../src/delivery/due-lanes.ts'
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
    const onWake = vi.fn<(laneIds: LaneIds) => void>()
    listener.listen(onWake)
    // Once when it begins to listen.
    await vi.waitFor(() => expect(onWake).toHaveBeenCalledTimes(1), { timeout: 30_000 })
    sender.send([3, 5])
    await vi.waitFor(() => expect(onWake).toHaveBeenCalledTimes(2), { timeout: 30_000 })
    expect(onWake.mock.calls).toEqual([[null], [[3, 5]]])
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(database.db)
    await vi.waitFor(() => expect(onWake).toHaveBeenCalledTimes(3), { timeout: 30_000 })
    // Its own connection was broken as well: the first call may be the one that notices.
    await vi.waitFor(
      () => {
        sender.send(null)
        expect(onWake.mock.calls.length).toBeGreaterThan(3)
      },
      { timeout: 30_000 },
    )
  }, 120_000)

  it('names the lanes, or means all where they are too many for one call (DL-7)', async () => {
    const onWake = vi.fn<(laneIds: LaneIds) => void>()
    listener.listen(onWake)
    await vi.waitFor(() => expect(onWake).toHaveBeenCalledTimes(1), { timeout: 30_000 })
    const many = Array.from({ length: 900 }, (_, n) => 9_000_000_000 + n)
    for (const [calls, laneIds] of [[1, 2], many, [7]].entries()) {
      sender.send(laneIds)
      await vi.waitFor(() => expect(onWake).toHaveBeenCalledTimes(calls + 2), { timeout: 30_000 })
    }
    await sql`select pg_notify('millrace_delivery', 'of another release')`.execute(database.db)
    await vi.waitFor(() => expect(onWake).toHaveBeenCalledTimes(5), { timeout: 30_000 })
    expect(onWake.mock.calls).toEqual([[null], [[1, 2]], [null], [[7]], [null]])
  }, 120_000)
})
