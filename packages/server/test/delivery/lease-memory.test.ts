import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLaneStore } from '../../src/database/lane-store.ts'
import { deliver } from '../../src/delivery/deliver.ts'
import type { Outcome } from '../../src/delivery/outcome.ts'
import { ACKNOWLEDGED, claimRequest, createBench, exported, type Bench } from './bench.ts'
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

  it('leave nothing behind the cursor that was acknowledged beside a request which outlasts the crash (DL-3, DL-6)', async () => {
    const { db } = postgres.database
    const id = await bench.configure('parallel', { requestsAtOnce: 2, maxBatchMessages: 1 })
    await bench.enqueue(
      ...['"first"', '"second"'].map((data, position) => exported(data, { channel: 'parallel', position })),
    )
    const answers: ((outcome: Outcome) => void)[] = []
    const both = Promise.withResolvers<undefined>()
    bench.endpoint.answer = () =>
      new Promise((answer) => {
        if (answers.push(answer) === 2) both.resolve(undefined)
      })
    const lane = (await bench.claim()).find(({ channel }) => channel === 'parallel')
    if (lane === undefined) throw new Error('no lane')
    const settled = Promise.withResolvers<undefined>()
    const stopping = new AbortController()
    const left = deliver(
      { ...bench.dependencies, onAttempt: () => settled.resolve(undefined) },
      lane,
      bench.clock.monotonic(),
      stopping.signal,
      { takePlace: () => true, givePlace: () => {}, onWake: () => {} },
    )
    await both.promise
    stopping.abort()
    const waiting = await db.selectFrom('webhook_message').selectAll().where('lane_id', '=', id).execute()
    const claimed = await db
      .selectFrom('webhook_lane_state')
      .selectAll()
      .where('lane_id', '=', id)
      .executeTakeFirstOrThrow()
    answers[1]?.(ACKNOWLEDGED)
    await settled.promise
    await postgres.server.crashWhole()
    await vi.waitFor(() => postgres.database.ping(), { timeout: 60_000 })
    // The claim had reached the disk, and the acknowledgement had not.
    await db.updateTable('webhook_lane_state').set(claimed).where('lane_id', '=', id).execute()
    await db.deleteFrom('webhook_sent').where('lane_id', '=', id).execute()
    await db.deleteFrom('webhook_message').where('lane_id', '=', id).execute()
    await db.insertInto('webhook_message').values(waiting).execute()
    answers[0]?.(ACKNOWLEDGED)
    expect(await left).toBe('lost')
    bench.endpoint.answer = () => ACKNOWLEDGED
    expect(await bench.claim()).toEqual([])
    bench.clock.advance(LEASE_MS)
    await bench.work()
    expect(bench.endpoint.acknowledged.map(({ data }) => data)).toEqual(['second', 'first', 1, 'second'])
    expect(await bench.pending()).toEqual([])
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
