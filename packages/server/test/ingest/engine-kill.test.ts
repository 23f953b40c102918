import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSqlite, type TestDatabase } from '../support/databases.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { createTestProject, jsonBatch, startInstance, userRows } from './instance.ts'

const BATCHES = 120
const KILLS = 4

let facts: TestEngine
let database: TestDatabase

beforeAll(async () => {
  facts = await startTestEngine()
  database = await openSqlite()
})

afterAll(async () => {
  await database.close()
  await facts.stop()
})

/** Ends the engine's process as a crash would; false when a server stands in for it. */
function killEngine(): boolean {
  const pid = facts.embedded?.state === 'ready' ? facts.embedded.pid : undefined
  return pid !== undefined && process.kill(pid, 'SIGKILL')
}

it('has every batch exactly once when the engine is killed again and again while batches are stored (IN-2)', async () => {
  const project = await createTestProject(database)
  const ingest = startInstance({ engine: facts.engine, database, limits: { maxGroupBytes: 20_000 } })
  const batchOf = (n: number) =>
    jsonBatch(
      Array.from({ length: 20 }, (_, i) => ({
        type: 'counter',
        name: 'killed',
        value: 1,
        labels: { n: String(n % 10) },
        chain: '1',
        blockNumber: n,
        logIndex: i,
        // Over several months, so that a kill can come between two parts of one insert.
        timestampMicros: Date.UTC(2025, i % 3, 1 + n / 10) * 1000,
      })),
      `batch-${n}`,
    )
  let left = BATCHES
  let kills = 0

  async function send(n: number): Promise<void> {
    for (;;) {
      try {
        await ingest.accept(project, batchOf(n))
        left--
        return
      } catch (error) {
        expect(error).toMatchObject({ code: 'unavailable' })
      }
    }
  }

  async function sendEvery(first: number): Promise<void> {
    for (let n = first; n < BATCHES; n += 8) {
      if (kills < KILLS && BATCHES - left > (kills * BATCHES) / (KILLS + 1) && killEngine()) kills++
      await send(n)
    }
  }

  await Promise.all(Array.from({ length: 8 }, (_, sender) => sendEvery(sender)))
  expect(kills).toBe(facts.embedded ? KILLS : 0)
  expect(
    await userRows(facts.engine, project, 'select count() as n, uniqExact(block_number) as b from killed'),
  ).toEqual([{ n: String(BATCHES * 20), b: String(BATCHES) }])
}, 60_000)
