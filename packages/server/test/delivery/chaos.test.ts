import { afterEach, describe, expect, it } from 'vitest'
import { createRandom } from './chaos/create-random.ts'
import { runChaos } from './chaos/run-chaos.ts'
import { breakConnections } from './chaos/break-connections.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'

const KILLS = 3

describe.each(controlDatabases)('delivery while everything fails, on $name', ({ name, open }) => {
  let database: TestDatabase
  afterEach(() => database.close())

  it('loses nothing and sends nothing stale, and dead letters complete the receiver (DL-5, DL-6, DL-8, DL-13, DD-4)', async () => {
    database = await open()
    const report = await runChaos({
      database,
      kills: KILLS,
      workers: name === 'sqlite' ? 1 : 2,
      breakConnections: name === 'sqlite' ? null : () => breakConnections(database.db),
      random: createRandom(7),
    })
    expect(report).toMatchObject({ faults: [], lost: [], different: [], kills: KILLS })
    expect(report.received).toBeGreaterThan(100)
  }, 400_000)
})
