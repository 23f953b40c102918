import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLaneStore } from '../../src/database/lane-store.ts'
import { claimRequest, createBench, exported, type Bench } from './bench.ts'
import { startOwnPostgres, type OwnPostgres } from './chaos/postgres-of-its-own.ts'

const LEASE_MS = 15_000

describe('leases that PostgreSQL may forget', () => {
  let postgres: OwnPostgres
  let bench: Bench

  beforeEach(async () => {
    postgres = await startOwnPostgres()
    bench = createBench(postgres.database)
    await bench.configure()
    await bench.enqueue(exported(1))
  }, 120_000)
  afterEach(() => postgres.stop())

  it('are given to nobody else after a crash until they have ended, and to anybody then (DL-6)', async () => {
    const { db } = postgres.database
    const before = await db.selectFrom('webhook_lane_state').selectAll().executeTakeFirstOrThrow()
    expect(await bench.claim()).toHaveLength(1)
    await postgres.server.crashWhole()
    await vi.waitFor(() => postgres.database.ping(), { timeout: 60_000 })
    // Whether the claim had reached the disk or not.
    await db.updateTable('webhook_lane_state').set(before).execute()
    bench.clock.advance(1000)
    expect(await bench.claim('another')).toEqual([])
    bench.clock.advance(LEASE_MS - 1)
    expect(await bench.claim('another')).toEqual([])
    bench.clock.advance(1)
    expect(await bench.claim('another')).toHaveLength(1)
  }, 120_000)

  it('do not keep lanes from being claimed for longer than a lease when the clock was set back since (DL-6)', async () => {
    await sql`delete from webhook_lease_memory`.execute(bench.db)
    const nowMs = bench.clock.now()
    expect(await bench.lanes.claim(claimRequest('worker', nowMs + 86_400_000))).toEqual([])
    expect(await bench.lanes.claim(claimRequest('worker', nowMs))).toHaveLength(1)
  }, 120_000)

  it('are taken, renewed and given back without waiting for the disk (DL-6)', async () => {
    const waits = (change: (lanes: Bench['lanes']) => Promise<unknown>) =>
      bench.db.transaction().execute(async (tx) => {
        await change(createLaneStore(tx))
        const { rows } = await sql<{ setting: string }>`
          select current_setting('synchronous_commit') as setting`.execute(tx)
        return rows[0]?.setting
      })
    const [lane] = await bench.claim()
    if (lane === undefined) throw new Error('no lane')
    expect(await waits(() => Promise.resolve())).toBe('on')
    expect(await waits((lanes) => lanes.renew(lane.claim, bench.clock.now() + LEASE_MS))).toBe('off')
    expect(await waits((lanes) => lanes.release(lane.claim, bench.clock.now()))).toBe('off')
    expect(await waits((lanes) => lanes.claim(claimRequest('worker', bench.clock.now())))).toBe('off')
  }, 120_000)
})
