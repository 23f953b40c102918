import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { deliver } from '../../src/delivery/deliver.ts'
import type { Outcome } from '../../src/delivery/outcome.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { ACKNOWLEDGED, acknowledging, createBench, exported, refused, type Bench } from './bench.ts'

const CHANNELS = ['one', 'two', 'three']

describe.each(controlDatabases)('what several channels acknowledge at once, on $name', ({ open }) => {
  let database: TestDatabase
  let bench: Bench

  beforeEach(async () => {
    database = await open()
    bench = createBench(database)
    for (const name of CHANNELS) await bench.configure(name)
    for (const channel of CHANNELS) {
      await bench.enqueue(...[1, 2, 3].map((value) => exported({ value }, { channel, position: value })))
    }
  })
  afterEach(() => database.close())

  /** Serves all channels at the same time; all requests are answered together, after `meanwhile`, those that came first with `outcomes`. */
  async function serveTogether(
    meanwhile: () => Promise<unknown>,
    outcomes: readonly Outcome[] = [],
  ): Promise<void> {
    let arrived = 0
    const answered = Promise.withResolvers<undefined>()
    bench.endpoint.answer = async () => {
      const outcome = outcomes[arrived] ?? ACKNOWLEDGED
      arrived += 1
      if (arrived === CHANNELS.length) {
        await meanwhile()
        answered.resolve(undefined)
      }
      await answered.promise
      return outcome
    }
    const lanes = await bench.claim()
    const { signal } = new AbortController()
    await Promise.all(lanes.map((lane) => deliver(bench.dependencies, lane, bench.clock.monotonic(), signal)))
  }

  const sent = () =>
    database.db
      .selectFrom('webhook_sent')
      .select(['lane_id', 'event_id', 'seq'])
      .orderBy('lane_id')
      .orderBy('seq')
      .execute()

  it('leaves the queue, is remembered, and has an attempt for each channel (DL-6, DL-8, DL-11)', async () => {
    await serveTogether(() => Promise.resolve())
    expect(await bench.pending()).toEqual([])
    expect(await sent()).toHaveLength(9)
    for (const name of CHANNELS) {
      const channel = await bench.channels.find(7, name)
      expect(channel).toMatchObject({ failures: 0, recentAttempts: 1, recentAcknowledged: 1 })
    }
    const lanes = await database.db.selectFrom('webhook_lane_state').select(['owner', 'cursor_seq']).execute()
    expect(lanes).toEqual(CHANNELS.map(() => ({ owner: null, cursor_seq: 3 })))
  })

  it('is recorded beside what others failed to send, which stays and makes their channels wait (DL-3, DL-11)', async () => {
    await serveTogether(() => Promise.resolve(), [ACKNOWLEDGED, refused(503), ACKNOWLEDGED])
    const states = await database.db
      .selectFrom('webhook_lane_state')
      .select(['owner', 'failures', 'cursor_seq', 'next_attempt_at'])
      .orderBy('failures')
      .execute()
    const nowMs = bench.clock.now()
    const acknowledged = { owner: null, failures: 0, cursor_seq: 3, next_attempt_at: nowMs }
    const failed = { owner: null, failures: 1, cursor_seq: 0, next_attempt_at: nowMs + 1000 }
    expect(states).toEqual([acknowledged, acknowledged, failed])
    expect(await bench.pending()).toHaveLength(3)
    expect(await sent()).toHaveLength(6)
    const channels = await Promise.all(CHANNELS.map((name) => bench.channels.find(7, name)))
    expect(channels.map((channel) => channel?.recentAttempts)).toEqual([1, 1, 1])
    expect(channels.filter((channel) => channel?.recentAcknowledged === 1)).toHaveLength(2)
  })

  it('does not take along the replacement of one message, which is sent next (DL-8)', async () => {
    await serveTogether(() =>
      bench.enqueue(exported({ value: 'newer' }, { channel: 'two', position: 2, version: 2 })),
    )
    expect(await bench.pending()).toEqual([])
    const newer = bench.endpoint.acknowledged.filter(({ version }) => version === 2)
    expect(newer.map(({ data }) => data)).toEqual([{ value: 'newer' }])
    expect(bench.endpoint.acknowledged).toHaveLength(10)
    expect(await sent()).toHaveLength(9)
  })

  it('counts for the others when one channel has another owner by then (DL-6)', async () => {
    await serveTogether(() =>
      database.db
        .updateTable('webhook_lane_state')
        .set((eb) => ({ epoch: eb('epoch', '+', 1), owner: 'another' }))
        .where('lane_id', '=', (eb) => eb.selectFrom('webhook_lane').select('id').where('name', '=', 'three'))
        .execute(),
    )
    expect(await bench.pending()).toEqual([])
    expect(await sent()).toHaveLength(9)
    const three = await database.db
      .selectFrom('webhook_lane_state')
      .innerJoin('webhook_lane', 'webhook_lane.id', 'webhook_lane_state.lane_id')
      .select(['owner', 'cursor_seq'])
      .where('name', '=', 'three')
      .executeTakeFirstOrThrow()
    expect(three).toEqual({ owner: 'another', cursor_seq: 0 })
  })

  it('sends again what the database forgot in a crash, instead of going on behind it (DL-6)', async () => {
    const [lane] = await bench.claim()
    if (lane === undefined) throw new Error('no lane')
    const { laneId } = lane.claim
    const waiting = database.db.selectFrom('webhook_message').selectAll().where('lane_id', '=', laneId)
    const before = await waiting.execute()
    bench.endpoint.answer = async () => {
      if (bench.endpoint.requests.length === 1) {
        await bench.enqueue(exported('"later"', { channel: lane.channel, position: 4 }))
      } else {
        // The first acknowledgement had not reached the disk; the claim had.
        await database.db.insertInto('webhook_message').values(before).execute()
        await database.db
          .updateTable('webhook_lane_state')
          .set({ cursor_seq: 0 })
          .where('lane_id', '=', laneId)
          .execute()
      }
      return ACKNOWLEDGED
    }
    const { signal } = new AbortController()
    expect(await deliver(bench.dependencies, lane, bench.clock.monotonic(), signal)).toBe('lost')
    expect(await waiting.execute()).toEqual(before)

    bench.endpoint.answer = () => ACKNOWLEDGED
    const again = (await bench.claim('another')).find(({ claim }) => claim.laneId === laneId)
    if (again === undefined) throw new Error('the lane was not given back')
    expect(await deliver(bench.dependencies, again, bench.clock.monotonic(), signal)).toBe('idle')
    expect(await waiting.execute()).toEqual([])
    const first = [{ value: 1 }, { value: 2 }, { value: 3 }]
    expect(bench.endpoint.acknowledged.map(({ data }) => data)).toEqual([...first, 'later', ...first])
  })

  it('tells what goes next where something does, and gives the other channels back (DL-3)', async () => {
    const lanes = await bench.claim()
    const nowMs = bench.clock.now()
    await bench.enqueue(exported('fourth', { channel: 'two', position: 4 }))
    const settled = await Promise.all(
      lanes.map(async ({ claim, channel, state }) => {
        const batch = await bench.lanes.nextBatch(claim, {
          maxMessages: 3,
          maxBytes: 1_000_000,
          afterSeq: 0,
          nowMs,
        })
        const answer = await bench.lanes.settle(claim, acknowledging({ state }, batch?.messages ?? [], nowMs))
        return [channel, answer] as const
      }),
    )
    expect(Object.fromEntries(settled)).toEqual({
      one: { state: 'released' },
      two: { state: 'held', next: { isShelved: false, messages: [expect.objectContaining({ seq: 4 })] } },
      three: { state: 'released' },
    })
    const owners = await database.db
      .selectFrom('webhook_lane_state')
      .innerJoin('webhook_lane', 'webhook_lane.id', 'webhook_lane_state.lane_id')
      .select(['name', 'owner'])
      .execute()
    expect(owners.filter(({ owner }) => owner !== null).map(({ name }) => name)).toEqual(['two'])
  })
})
