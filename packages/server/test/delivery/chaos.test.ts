import { expect, it } from 'vitest'
import { createRandom } from './chaos/create-random.ts'
import { startOwnPostgres } from './chaos/postgres-of-its-own.ts'
import { runChaos } from './chaos/run-chaos.ts'
import { openSqlite } from '../support/databases.ts'

/** What comes of it, everywhere. */
const NOTHING_WRONG = { faults: [], lost: [], different: [] }

it('loses nothing and sends nothing stale while everything fails, and dead letters complete the receiver, on sqlite (DL-5, DL-6, DL-8, DL-13, DD-4)', async () => {
  const database = await openSqlite()
  try {
    const report = await runChaos({ database, kills: 3, workers: 1, server: null, random: createRandom(7) })
    expect(report).toMatchObject({ ...NOTHING_WRONG, kills: 3 })
    expect(report.received).toBeGreaterThan(100)
  } finally {
    await database.close()
  }
}, 400_000)

it('loses nothing and sends nothing stale while everything fails, PostgreSQL too, and dead letters complete the receiver (DL-5, DL-6, DL-8, DL-13, DD-4)', async () => {
  const { database, server, stop } = await startOwnPostgres()
  try {
    const report = await runChaos({ database, kills: 4, workers: 2, server, random: createRandom(7) })
    expect(report).toMatchObject({ ...NOTHING_WRONG, kills: 4 })
    expect(report.received).toBeGreaterThan(100)
  } finally {
    await stop()
  }
}, 400_000)
