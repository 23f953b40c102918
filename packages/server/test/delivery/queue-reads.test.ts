import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ControlTransaction } from '../../src/database/database.ts'
import { nextBatches } from '../../src/database/lane-store-batch.ts'
import { openPostgres, type TestDatabase } from '../support/databases.ts'
import { createBench, exported, type Bench } from './bench.ts'

const CHANNELS = 4
const BLOCKS = 50
const MESSAGES_OF_A_BLOCK = 20
const WANTED = 10

let database: TestDatabase
let bench: Bench
beforeEach(async () => {
  database = await openPostgres()
  bench = createBench(database)
})
afterEach(() => database.close())

const channels = Array.from({ length: CHANNELS }, (_, index) => `channel ${index}`)

async function fill(fromBlock: number): Promise<void> {
  for (const channel of channels) {
    const messages = Array.from({ length: BLOCKS * MESSAGES_OF_A_BLOCK }, (_, n) =>
      // Blocks come in no order, so that the order of blocks is not that of arrival.
      exported(n, { channel, blockNumber: fromBlock + ((n * 7) % BLOCKS) }),
    )
    await bench.enqueue(...messages)
  }
}

/** By this connection, as far as it has not reported it; that may be more than this transaction's. */
async function rowsFetchedSoFar(tx: ControlTransaction): Promise<number> {
  const { rows } = await sql<{ fetched: number }>`
    select seq_tup_read + idx_tup_fetch as fetched from pg_stat_xact_user_tables
    where relname = 'webhook_message'`.execute(tx)
  return rows[0]?.fetched ?? Number.NaN
}

/** Rows of the queue that are fetched to read what the lanes send next. */
async function rowsFetched(laneIds: readonly number[]): Promise<number> {
  return bench.db.transaction().execute(async (tx) => {
    const requests = laneIds.map((laneId) => ({
      laneId,
      afterSeq: BLOCKS,
      nowMs: bench.clock.now(),
      maxMessages: WANTED,
      maxBytes: 1_000_000,
    }))
    const before = await rowsFetchedSoFar(tx)
    const batches = await nextBatches(tx, requests)
    for (const laneId of laneIds) expect(batches.get(laneId)).toHaveLength(WANTED)
    return (await rowsFetchedSoFar(tx)) - before
  })
}

it('reads of a queue on PostgreSQL what it sends, whatever the statistics say of the queue (DL-9)', async () => {
  const laneIds = []
  for (const channel of channels) laneIds.push(await bench.configure(channel))
  // Once to know how long each array is, and once for the message itself.
  const needed = 2 * WANTED * CHANNELS
  await sql`analyze webhook_message`.execute(bench.db)
  await fill(1)
  expect(await rowsFetched(laneIds)).toBeLessThanOrEqual(needed)
  await sql`analyze webhook_message`.execute(bench.db)
  expect(await rowsFetched(laneIds)).toBeLessThanOrEqual(needed)
  await bench.db.deleteFrom('webhook_message').where('seq', '>', 60).execute()
  await sql`analyze webhook_message`.execute(bench.db)
  await fill(1000)
  expect(await rowsFetched(laneIds)).toBeLessThanOrEqual(needed)
})
