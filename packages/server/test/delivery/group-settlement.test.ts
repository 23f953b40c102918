import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { deliver } from '../../src/delivery/deliver.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { ACKNOWLEDGED, createBench, exported, type Bench } from './bench.ts'

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

  /** Serves all channels at the same time; all requests are answered together, after `meanwhile`. */
  async function serveTogether(meanwhile: () => Promise<unknown>): Promise<void> {
    let arrived = 0
    const answered = Promise.withResolvers<undefined>()
    bench.endpoint.answer = async () => {
      arrived += 1
      if (arrived === CHANNELS.length) {
        await meanwhile()
        answered.resolve(undefined)
      }
      await answered.promise
      return ACKNOWLEDGED
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
    const lanes = await database.db.selectFrom('webhook_lane').select(['owner', 'cursor_seq']).execute()
    expect(lanes).toEqual(CHANNELS.map(() => ({ owner: null, cursor_seq: 3 })))
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
        .updateTable('webhook_lane')
        .set((eb) => ({ epoch: eb('epoch', '+', 1), owner: 'another' }))
        .where('name', '=', 'three')
        .execute(),
    )
    expect(await bench.pending()).toEqual([])
    expect(await sent()).toHaveLength(9)
    const three = await database.db
      .selectFrom('webhook_lane')
      .select(['owner', 'cursor_seq'])
      .where('name', '=', 'three')
      .executeTakeFirstOrThrow()
    expect(three).toEqual({ owner: 'another', cursor_seq: 0 })
  })
})
