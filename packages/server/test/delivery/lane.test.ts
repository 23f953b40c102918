import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expireDelivery } from '../../src/database/dead-letter-expiry.ts'
import { batchRequest } from '../../src/delivery/lane.ts'
import { ALL_ATTEMPTS, type Attempt } from '../../src/delivery/attempt.ts'
import { deliver } from '../../src/delivery/deliver.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { ACKNOWLEDGED, claimRequest, createBench, exported, refused, type Bench } from './bench.ts'

const DAY_MS = 24 * 3_600_000
const DIES_SOON = { deadLetter: { ageMs: 0, attempts: 2 } }

describe.each(controlDatabases)('lanes on $name', ({ open }) => {
  let database: TestDatabase
  let bench: Bench

  beforeEach(async () => {
    database = await open()
    bench = createBench(database)
  })
  afterEach(() => database.close())

  const data = () => bench.endpoint.acknowledged.map((message) => message.data)

  function failWith(status: number, retryAfterMs: number | null = null): void {
    bench.endpoint.answer = () => refused(status, retryAfterMs)
  }

  function recover(): void {
    bench.endpoint.answer = () => ACKNOWLEDGED
  }

  /** Serves the lane and answers how long it then waits. */
  async function waitAfterWork(): Promise<number> {
    await bench.work()
    const { next_attempt_at } = await bench.db
      .selectFrom('webhook_lane_state')
      .select('next_attempt_at')
      .executeTakeFirstOrThrow()
    return next_attempt_at - bench.clock.now()
  }

  it('doubles the wait of the lane with each failure, up to the cap (DL-3)', async () => {
    await bench.configure('alerts', { backoff: { initialMs: 1000, capMs: 6000 } })
    await bench.enqueue(exported(1))
    failWith(503)
    const waits = []
    for (let n = 0; n < 5; n += 1) {
      const waitMs = await waitAfterWork()
      waits.push(waitMs)
      bench.clock.advance(waitMs)
    }
    expect(waits).toEqual([1000, 2000, 4000, 6000, 6000])
    expect(bench.endpoint.requests).toHaveLength(5)
  })

  it('raises the wait by Retry-After, up to the cap (DL-3)', async () => {
    await bench.configure('alerts', { backoff: { initialMs: 1000, capMs: 60_000 } })
    await bench.enqueue(exported(1))
    failWith(429, 30_000)
    expect(await waitAfterWork()).toBe(30_000)
    bench.clock.advance(30_000)
    failWith(503, DAY_MS)
    expect(await waitAfterWork()).toBe(60_000)
  })

  it('keeps the webhook-id over retries of the same content and changes it with the content (DL-1)', async () => {
    await bench.configure()
    await bench.enqueue(exported(1, { position: 0 }))
    failWith(500)
    await bench.work()
    bench.clock.advance(1000)
    await bench.work()
    await bench.enqueue(exported(2, { position: 0 }))
    bench.clock.advance(2000)
    await bench.work()
    const [first, second, third] = bench.endpoint.requests.map((request) => request.webhookId)
    expect(second).toBe(first)
    expect(third).not.toBe(first)
  })

  it('disables the channel after 410 and starts again when it is given a url (DL-3)', async () => {
    const id = await bench.configure()
    await bench.enqueue(exported(1))
    failWith(410)
    await bench.work()
    bench.clock.advance(DAY_MS)
    await bench.work()
    expect(bench.endpoint.requests).toHaveLength(1)
    expect(await bench.channels.find(7, 'alerts')).toMatchObject({
      status: 'disabled',
      disabledReason: 'the endpoint answered 410',
    })
    recover()
    await bench.channels.change(id, { url: 'https://elsewhere.example/' }, 'unused', bench.clock.now())
    await bench.work()
    expect(data()).toEqual([1])
  })

  it('waits while the channel is paused (DL-12)', async () => {
    const id = await bench.configure()
    await bench.enqueue(exported(1))
    await bench.channels.change(id, { isPaused: true }, 'unused', bench.clock.now())
    await bench.work()
    expect(data()).toEqual([])
    await bench.channels.change(id, { isPaused: false }, 'unused', bench.clock.now())
    await bench.work()
    expect(data()).toEqual([1])
  })

  it('finds the refused message by splitting, shelves it, and the lane goes on (DL-4)', async () => {
    await bench.configure('alerts', { deadLetter: { ageMs: 0, attempts: 6 } })
    await bench.enqueue(...Array.from({ length: 10 }, (_, n) => exported(n)))
    bench.endpoint.answer = (messages) =>
      messages.some((message) => message.data === 6) ? refused(422) : ACKNOWLEDGED
    for (let n = 0; n < 12; n += 1) {
      await bench.work()
      bench.clock.advance(2000)
    }
    expect(data()).toEqual([0, 1, 2, 3, 4, 5, 7, 8, 9])
    for (let n = 0; n < 6; n += 1) {
      bench.clock.advance(3_600_000)
      await bench.work()
    }
    const letters = await bench.pull()
    expect(letters).toHaveLength(1)
    expect(letters[0]).toMatchObject({ attempts: 6, lastStatus: 422 })
    expect(Buffer.from(letters[0]?.bodies[0] ?? []).toString()).toContain('"data":6}')
    expect(await bench.pending()).toEqual([])
  })

  it('sends smaller batches after an outage and doubles them (DL-7)', async () => {
    await bench.configure()
    await bench.enqueue(...Array.from({ length: 100 }, (_, n) => exported(n)))
    failWith(500)
    for (let n = 0; n < 4; n += 1) bench.clock.advance(await waitAfterWork())
    recover()
    await bench.enqueue(...Array.from({ length: 100 }, (_, n) => exported(n, { blockNumber: 101 })))
    const before = bench.endpoint.requests.length
    await bench.work()
    const sizes = bench.endpoint.requests
      .slice(before)
      .map(({ body }) => (JSON.parse(Buffer.from(body).toString()) as unknown[]).length)
    expect(sizes).toEqual([10, 20, 40, 80, 50])
  })

  it('buries what is old enough once its lane has failed often enough, never before both (DL-5)', async () => {
    await bench.configure('alerts', { deadLetter: { ageMs: DAY_MS, attempts: 12 } })
    await bench.enqueue(exported(1), exported(2))
    failWith(500)
    for (let n = 0; n < 11; n += 1) bench.clock.advance(await waitAfterWork())
    bench.clock.advance(DAY_MS)
    await bench.enqueue(exported('"young"', { blockNumber: 101 }))
    expect(await bench.pull()).toEqual([])
    await bench.work()
    const [letter, ...others] = await bench.pull()
    expect(others).toEqual([])
    expect(letter).toMatchObject({ channel: 'alerts', attempts: 12, lastStatus: 500 })
    expect(letter?.bodies).toHaveLength(2)
    expect(await bench.pending()).toHaveLength(1)
  })

  it('walks through all letters with repeated pulls, and a pull removes nothing (DD-2)', async () => {
    await bench.configure('alerts', { ...DIES_SOON, maxBatchMessages: 1 })
    await bench.enqueue(exported(0), exported(1), exported(2))
    failWith(500)
    for (let n = 0; n < 10; n += 1) {
      await bench.work()
      bench.clock.advance(600_000)
    }
    const pulled = []
    for (let n = 0; n < 6; n += 1) pulled.push(...(await bench.pull(1)))
    const ids = pulled.map((letter) => letter.id)
    expect(new Set(ids.slice(0, 3)).size).toBe(3)
    expect(ids.slice(3)).toEqual(ids.slice(0, 3))
    bench.clock.advance(7 * DAY_MS)
    expect(await bench.pull()).toEqual([])
    expect(await expireDelivery(bench.db, bench.clock.now())).toBeGreaterThan(3)
    expect(await bench.db.selectFrom('webhook_dead_message').selectAll().execute()).toEqual([])
  })

  it('takes a superseded message out of the letters (DL-8)', async () => {
    await bench.configure('alerts', DIES_SOON)
    await bench.enqueue(exported('"old"', { position: 0 }), exported('"fine"', { position: 1 }))
    failWith(500)
    await bench.work()
    bench.clock.advance(1000)
    await bench.work()
    expect((await bench.pull())[0]?.bodies).toHaveLength(2)
    await bench.enqueue(exported('"new"', { position: 0 }))
    expect((await bench.pull())[0]?.bodies).toHaveLength(1)
    await bench.enqueue(exported('"fine too"', { position: 1 }))
    expect(await bench.pull()).toEqual([])
  })

  it('claims lanes with what they send first, as much as their limits and their memory allow (DL-4, DL-7)', async () => {
    const laneIds = {
      unlimited: await bench.configure('unlimited'),
      few: await bench.configure('few', { maxBatchMessages: 3 }),
      small: await bench.configure('small', { maxBatchBytes: 1 }),
      recovering: await bench.configure('recovering'),
      shelving: await bench.configure('shelving'),
      many: await bench.configure('many'),
    }
    for (const channel of Object.keys(laneIds)) {
      const length = channel === 'many' ? 33 : 5
      await bench.enqueue(...Array.from({ length }, (_, n) => exported(n, { channel })))
    }
    const states = bench.db.updateTable('webhook_lane_state')
    await states.set({ batch_limit: 2 }).where('lane_id', '=', laneIds.recovering).execute()
    await states.set({ cursor_seq: 3 }).where('lane_id', '=', laneIds.few).execute()
    await bench.db
      .updateTable('webhook_message')
      .set({ shelved_until_at: bench.clock.now() })
      .where('lane_id', '=', laneIds.shelving)
      .where('seq', '=', 2)
      .execute()
    const claimed = await bench.claim()
    const sends = new Map<string, readonly number[] | undefined>()
    for (const { channel, claim, first, limits, state } of claimed) {
      const batch =
        first ?? (await bench.lanes.nextBatch(claim, batchRequest(limits, state, bench.clock.now())))
      sends.set(
        channel,
        batch?.messages.map(({ seq }) => seq),
      )
    }
    expect(Object.fromEntries(sends)).toEqual({
      unlimited: [1, 2, 3, 4, 5],
      few: [4, 5],
      small: [1],
      recovering: [1, 2],
      shelving: [2],
      many: Array.from({ length: 33 }, (_, n) => n + 1),
    })
    const lookedFor = claimed.filter(({ first }) => first === null).map(({ channel }) => channel)
    expect(['shelving', 'many']).toEqual(expect.arrayContaining(lookedFor))
  })

  it('claims a lane once, and again when its lease has run out (DL-6)', async () => {
    await bench.configure()
    await bench.enqueue(exported(1))
    const [mine] = await bench.claim('first')
    expect(await bench.claim('second')).toEqual([])
    bench.clock.advance(15_000)
    const [theirs] = await bench.claim('second')
    expect(theirs?.claim.epoch).toBe((mine?.claim.epoch ?? 0) + 1)
  })

  it('gives each lane to one of many workers that claim at once (DL-6)', async () => {
    for (let n = 0; n < 20; n += 1) {
      await bench.configure(`channel ${n}`)
      await bench.enqueue(exported(n, { channel: `channel ${n}` }))
    }
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        bench.lanes.claim(claimRequest(`worker ${n}`, bench.clock.now(), { limit: 5, failingLimit: 5 })),
      ),
    )
    expect(Math.max(...claims.map((lanes) => lanes.length))).toBeLessThanOrEqual(5)
    const taken = claims.flat().map((lane) => lane.claim.laneId)
    expect(new Set(taken).size).toBe(taken.length)
  })

  it('lets a late worker record what was acknowledged, but decide nothing about the lane (DL-6)', async () => {
    await bench.configure('alerts', { deadLetter: { ageMs: 0, attempts: 1 } })
    await bench.enqueue(exported('"a"', { position: 0 }))
    const [late] = await bench.claim('late')
    if (!late) throw new Error('nothing claimed')
    bench.endpoint.answer = async () => {
      // The late worker's request takes so long that its lease runs out and another delivers the message.
      bench.clock.advance(15_000)
      bench.endpoint.answer = () => ACKNOWLEDGED
      await bench.work('next')
      await bench.enqueue(exported('"b"', { position: 0 }))
      return refused(500)
    }
    const left = await deliver(
      bench.dependencies,
      late,
      bench.clock.monotonic(),
      new AbortController().signal,
    )
    expect(left).toBe('lost')
    expect(await bench.pull()).toEqual([])
    expect(await bench.channels.find(7, 'alerts')).toMatchObject({ failures: 0, pendingMessages: 1 })
    await bench.work('next')
    expect(data()).toEqual(['a', 'b'])
  })

  it('does not take an older revision for the newest because its answer came late (DL-6, DL-8)', async () => {
    await bench.configure()
    await bench.enqueue(exported('"a"', { position: 0 }))
    const [late] = await bench.claim('late')
    if (!late) throw new Error('nothing claimed')
    bench.endpoint.answer = async () => {
      bench.endpoint.answer = () => ACKNOWLEDGED
      await bench.enqueue(exported('"b"', { position: 0 }))
      bench.clock.advance(15_000)
      await bench.work('next')
      return ACKNOWLEDGED
    }
    await deliver(bench.dependencies, late, bench.clock.monotonic(), new AbortController().signal)
    const requests = bench.endpoint.requests.length
    await bench.enqueue(exported('"b"', { position: 0 }))
    await bench.work()
    expect(bench.endpoint.requests).toHaveLength(requests)
  })

  it('does not begin a request when its lease was taken over while it was stalled (DL-6)', async () => {
    await bench.configure()
    await bench.enqueue(exported(1))
    const [stalled] = await bench.claim('stalled')
    if (!stalled) throw new Error('nothing claimed')
    const claimedAt = bench.clock.monotonic()
    bench.clock.advance(20_000)
    await bench.work('next')
    await bench.enqueue(exported(2))
    const requests = bench.endpoint.requests.length
    expect(await deliver(bench.dependencies, stalled, claimedAt, new AbortController().signal)).toBe('lost')
    expect(bench.endpoint.requests).toHaveLength(requests)
  })

  it('gives the lease back after the running attempt when it is stopped, so nothing is doubled (DL-6)', async () => {
    await bench.configure('alerts', { maxBatchMessages: 1 })
    await bench.enqueue(exported(1), exported(2))
    const stopping = new AbortController()
    bench.endpoint.answer = () => {
      stopping.abort()
      return ACKNOWLEDGED
    }
    const [lane] = await bench.claim('stopped')
    if (!lane) throw new Error('nothing claimed')
    await deliver(bench.dependencies, lane, bench.clock.monotonic(), stopping.signal)
    expect(data()).toEqual([1])
    await bench.work('next')
    expect(data()).toEqual([1, 2])
  })

  it('claims failing lanes only up to their share, and those that waited longest first (DL-9)', async () => {
    for (const name of ['a', 'b', 'c', 'd']) {
      await bench.configure(name)
      await bench.enqueue(exported(name, { channel: name, data: Buffer.from(`"${name}"`) }))
    }
    failWith(500)
    await bench.work()
    bench.clock.advance(1000)
    await bench.configure('healthy')
    await bench.enqueue(exported('"h"', { channel: 'healthy' }))
    const lanes = await bench.lanes.claim(
      claimRequest('w', bench.clock.now(), { limit: 10, failingLimit: 2 }),
    )
    expect(lanes.filter((lane) => lane.state.failures > 0)).toHaveLength(2)
    expect(lanes.map((lane) => lane.channel)).toContain('healthy')
  })

  it('forgets attempts after seven days, however many, and none before (DL-11)', async () => {
    const id = await bench.configure()
    const attempt: Attempt = {
      webhookId: 'msg_1',
      startedAt: bench.clock.now(),
      durationMs: 1,
      outcome: 'acknowledged',
      status: 200,
      reason: '',
      messages: 1,
      bytes: 1,
      firstEventId: 1,
      lastEventId: 1,
      answer: new Uint8Array(),
    }
    for (let n = 0; n < 450; n += 1) await bench.attempts.record(id, attempt)
    bench.clock.advance(1)
    await bench.attempts.record(id, { ...attempt, startedAt: bench.clock.now() })
    bench.clock.advance(7 * DAY_MS - 2)
    expect(await expireDelivery(bench.db, bench.clock.now())).toBe(0)
    bench.clock.advance(1)
    expect(await expireDelivery(bench.db, bench.clock.now())).toBe(450)
    expect(await bench.db.selectFrom('webhook_attempt').select('id').execute()).toHaveLength(1)
  })

  it('records every attempt with what followed from it (DL-11)', async () => {
    const id = await bench.configure()
    await bench.enqueue(exported(1), exported(2))
    failWith(502)
    await bench.work()
    recover()
    bench.clock.advance(1000)
    await bench.work()
    const attempts = await bench.attempts.list(id, { ...ALL_ATTEMPTS, limit: 10, beforeId: null })
    expect(attempts).toMatchObject([
      { outcome: 'acknowledged', status: 200, messages: 2, firstEventId: 1, lastEventId: 2 },
      { outcome: 'refused', status: 502, reason: 'the endpoint answered 502' },
    ])
    expect(Buffer.from(attempts[0]?.answer ?? []).toString()).toBe('ok')
    const older = await bench.attempts.list(id, {
      ...ALL_ATTEMPTS,
      limit: 10,
      beforeId: attempts[0]?.id ?? 0,
    })
    expect(older).toHaveLength(1)
  })
})
