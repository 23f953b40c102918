import { sql } from 'kysely'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ControlTransaction } from '../../src/database/database.ts'
import { createLaneStore } from '../../src/database/lane-store.ts'
import { settleLane } from '../../src/database/lane-store-settle.ts'
import { settleTogether } from '../../src/database/lane-store-settle-together.ts'
import { enqueueExports } from '../../src/database/outbox.ts'
import type { ClaimedLane } from '../../src/delivery/lane.ts'
import { openPostgres, type TestDatabase } from '../support/databases.ts'
import { acknowledging, claimRequest, createBench, exported, VERSION, type Bench } from './bench.ts'

/** Far more than fit into the pages that may be read. */
const VERSIONS = 5000
const PAGES_MAX = 32

let database: TestDatabase
let bench: Bench
let reporting: Client
beforeEach(async () => {
  database = await openPostgres()
  bench = createBench(database)
  reporting = new Client({ connectionString: database.location })
  await reporting.connect()
  await reporting.query('begin isolation level repeatable read')
  await reporting.query('select count(*) from webhook_lane')
})
afterEach(async () => {
  await reporting.end()
  await database.close()
})

/** Pages of a table and its indexes that a transaction touches. */
async function pagesTouched(
  table: string,
  run: (tx: ControlTransaction) => Promise<unknown>,
): Promise<number> {
  return bench.db.transaction().execute(async (tx) => {
    const touched = async () => {
      await sql`select pg_stat_force_next_flush()`.execute(tx)
      const { rows } = await sql<{ pages: number }>`
        select pg_stat_get_xact_blocks_fetched(c.oid) + (
          select coalesce(sum(pg_stat_get_xact_blocks_fetched(indexrelid)), 0) from pg_index where indrelid = c.oid
        ) as pages
        from pg_class as c where relname = ${table}`.execute(tx)
      return rows[0]?.pages ?? Number.NaN
    }
    const before = await touched()
    await run(tx)
    return (await touched()) - before
  })
}

/** That PostgreSQL believes in as few rows as there are, however many versions of them are kept. */
const analyze = (table: string) => sql`analyze ${sql.table(table)}`.execute(bench.db)

const enqueue = (tx: ControlTransaction, position: number) =>
  enqueueExports(tx, VERSION, { messages: [exported(position, { position })], heads: [] }, bench.clock.now())

it('finds and raises the counters of a channel without reading the versions that a snapshot keeps (DL-6)', async () => {
  const laneId = await bench.configure()
  await sql`
    do $$ begin
      for i in 1..${sql.lit(VERSIONS)} loop
        update webhook_lane_counter set next_seq = i + 1 where lane_id = ${sql.lit(laneId)} and next_seq = i;
      end loop;
    end $$`.execute(bench.db)
  await analyze('webhook_lane_counter')
  const pages = await pagesTouched('webhook_lane_counter', (tx) => enqueue(tx, 1))
  expect((await bench.pending()).map(({ seq }) => seq)).toEqual([VERSIONS + 1])
  expect(pages).toBeLessThanOrEqual(PAGES_MAX)
})

it('finds and changes the state of a channel without reading the versions that a snapshot keeps (DL-3)', async () => {
  const laneId = await bench.configure()
  await bench.enqueue(exported(1))
  await sql`
    do $$ begin
      for i in 1..${sql.lit(VERSIONS)} loop
        update webhook_lane_state set epoch = i where lane_id = ${sql.lit(laneId)} and epoch = i - 1;
      end loop;
    end $$`.execute(bench.db)
  await analyze('webhook_lane_state')
  const claiming = await pagesTouched('webhook_lane_state', async (tx) => {
    const lanes = await createLaneStore(tx).claim(claimRequest('worker', bench.clock.now()))
    expect(lanes.map(({ claim }) => claim)).toEqual([{ laneId, owner: 'worker', epoch: VERSIONS + 1 }])
  })
  expect(claiming).toBeLessThanOrEqual(PAGES_MAX)
  await bench.db.updateTable('webhook_lane_state').set({ lease_until_at: 0 }).execute()
  const lane = await claimOne()
  const settling = await pagesTouched('webhook_lane_state', (tx) => acknowledge(tx, lane))
  expect(settling).toBeLessThanOrEqual(PAGES_MAX)
})

describe('messages, without reading those that a snapshot keeps', () => {
  /** One message waits, behind many that have left. */
  async function leaveOne(): Promise<ClaimedLane> {
    const messages = Array.from({ length: VERSIONS }, (_, position) => exported(position, { position }))
    await bench.enqueue(...messages)
    await bench.db.deleteFrom('webhook_message').where('seq', '<', VERSIONS).execute()
    await bench.db
      .updateTable('webhook_lane_state')
      .set({ cursor_seq: VERSIONS - 1 })
      .execute()
    await analyze('webhook_message')
    const [lane] = await bench.claim()
    if (lane === undefined) throw new Error('no lane')
    return lane
  }
  const newest = () => exported('newer', { position: VERSIONS - 1 })
  const settlementOf = (lane: ClaimedLane) =>
    acknowledging(lane, lane.first?.messages ?? [], bench.clock.now())

  it('are acknowledged (DL-6)', async () => {
    await bench.configure()
    const lane = await leaveOne()
    const pages = await pagesTouched('webhook_message', (tx) => acknowledge(tx, lane))
    expect(await bench.pending()).toEqual([])
    expect(pages).toBeLessThanOrEqual(PAGES_MAX)
  })

  it('are acknowledged by themselves, as those of a channel that retracts (DL-13)', async () => {
    await bench.configure()
    const lane = await leaveOne()
    const settlement = { ...settlementOf(lane), isRetracting: true }
    const pages = await pagesTouched('webhook_message', (tx) => settleLane(tx, lane.claim, settlement))
    expect(await bench.pending()).toEqual([])
    expect(pages).toBeLessThanOrEqual(PAGES_MAX)
  })

  it('are shelved (DL-4)', async () => {
    await bench.configure()
    const lane = await leaveOne()
    const settlement = {
      ...settlementOf(lane),
      acknowledged: [],
      shelved: [{ seq: VERSIONS, tries: 1, untilAt: 1 }],
    }
    const pages = await pagesTouched('webhook_message', (tx) => settleLane(tx, lane.claim, settlement))
    const shelved = await bench.db
      .selectFrom('webhook_message')
      .select(['tries', 'shelved_until_at'])
      .execute()
    expect(shelved).toEqual([{ tries: 1, shelved_until_at: 1 }])
    expect(pages).toBeLessThanOrEqual(PAGES_MAX)
  })

  it('are replaced (DL-8)', async () => {
    await bench.configure()
    await leaveOne()
    const pages = await pagesTouched('webhook_message', (tx) =>
      enqueueExports(tx, VERSION, { messages: [newest()], heads: [] }, bench.clock.now()),
    )
    expect((await bench.pending()).map(({ seq }) => seq)).toEqual([VERSIONS + 1])
    expect(pages).toBeLessThanOrEqual(PAGES_MAX)
  })

  it('give way to what has to be confirmed (DL-13)', async () => {
    await bench.configure()
    await leaveOne()
    await bench.db.updateTable('webhook_lane').set({ confirmations: 3 }).execute()
    const pages = await pagesTouched('webhook_message', (tx) =>
      enqueueExports(tx, VERSION, { messages: [newest()], heads: [] }, bench.clock.now()),
    )
    expect(await bench.pending()).toEqual([])
    expect(pages).toBeLessThanOrEqual(PAGES_MAX)
  })
})

async function claimOne(): Promise<ClaimedLane> {
  const [lane] = await bench.claim()
  if (lane === undefined) throw new Error('no lane')
  return lane
}

function acknowledge(tx: ControlTransaction, lane: ClaimedLane) {
  const settlement = acknowledging(lane, lane.first?.messages ?? [], bench.clock.now())
  return settleTogether(tx, tx, [{ claim: lane.claim, settlement }])
}
