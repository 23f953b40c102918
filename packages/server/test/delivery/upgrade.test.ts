import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase, type OpenDatabase } from '../../src/database/database.ts'
import { MIGRATIONS } from '../../src/database/migrations.ts'
import { measureQueuedBytes } from '../../src/database/queued-bytes.ts'
import { enqueueExports } from '../../src/database/outbox.ts'
import { controlDatabases, type EmptyPlace } from '../support/databases.ts'
import { createBench, exported, PROJECT_ID, VERSION, type Bench, type Received } from './bench.ts'
import { makeEarlier } from './upgrade/make-earlier.ts'

/** When the earlier build stopped, after {@link createBench}'s clock begins. */
const STOPPED_AFTER_MS = 12_000
const LEASE_MS = 15_000
const ROWS = new URL('upgrade/queue-of-0070.json', import.meta.url)

/** What each channel had yet to send, in order: `n` of the data. */
const WAITING = {
  backlog: [4, 5, 6, 100],
  failing: [1, 2],
  refusing: [4, 2],
  leased: [1, 2],
  dying: [2],
} as const

describe.each(controlDatabases)('a queue of an earlier build on $name', ({ name, makePlace }) => {
  let place: EmptyPlace
  let database: OpenDatabase
  let bench: Bench

  beforeEach(async () => {
    place = await makePlace()
    await makeEarlier(name, place.location, { lastStep: '0070-queued-bytes', rowsFile: ROWS })
    database = await openDatabase(place.location)
    bench = createBench(database)
    bench.clock.advance(STOPPED_AFTER_MS)
  })
  afterEach(async () => {
    await database.close()
    await place.remove()
  })

  /** What was acknowledged, by channel, whose name is in its address. */
  function delivered(): Readonly<Record<string, readonly number[]>> {
    const byChannel = Map.groupBy(
      bench.endpoint.requests.flatMap(({ url, body }) =>
        (JSON.parse(Buffer.from(body).toString()) as Received[]).map((message) => ({ url, message })),
      ),
      ({ url }) => new URL(url).host.replace('.example', ''),
    )
    return Object.fromEntries(
      [...byChannel].map(([channel, list]) => [
        channel,
        list.map(({ message }) => (message.data as { n: number }).n),
      ]),
    )
  }

  async function idOf(channel: string): Promise<number> {
    const found = await bench.channels.find(PROJECT_ID, channel)
    if (!found) throw new Error(`no channel ${channel}`)
    return found.id
  }

  it('is brought to the newest schema when it is opened', async () => {
    const { rows } = await sql<{ name: string }>`select name from schema_step order by name`.execute(bench.db)
    expect(rows.map((row) => row.name)).toEqual(MIGRATIONS.map((step) => step.name).toSorted())
  })

  it('has one request at a time in each channel (DL-3)', async () => {
    const channels = await bench.channels.list(PROJECT_ID)
    expect(channels).toHaveLength(8)
    expect(new Set(channels.map(({ limits }) => limits.requestsAtOnce))).toEqual(new Set([1]))
  })

  it('is delivered once and in order, each channel when it is due, and a lease is kept until it runs out (DL-5, DL-6)', async () => {
    await bench.work()
    // The lease of a process that may still be alive, two attempts that are not due yet, a pause, a channel without an address.
    expect(delivered()).toEqual({ backlog: WAITING.backlog, refusing: [4] })
    bench.clock.advance(LEASE_MS)
    await bench.work()
    expect(delivered()).toEqual(WAITING)
    await bench.work()
    expect(delivered()).toEqual(WAITING)
    await bench.channels.change(await idOf('paused'), { isPaused: false }, '', bench.clock.now())
    await bench.work()
    expect(delivered()).toEqual({ ...WAITING, paused: [1, 2] })
  })

  it('counts the bytes that wait as before, and none when all has been delivered (IN-7)', async () => {
    const bytes = async () =>
      Object.fromEntries((await measureQueuedBytes(bench.db)).map((queued) => [queued.channel, queued.bytes]))
    // A message that waits by itself because it was refused does not count; and bytes were not always in the order of the queue.
    const undue = { paused: 204, later: 204 }
    expect(await bytes()).toEqual({
      backlog: 207,
      failing: 204,
      refusing: 103,
      leased: 205,
      dying: 103,
      ...undue,
    })
    bench.clock.advance(LEASE_MS)
    await bench.work()
    expect(await bytes()).toEqual(undue)
  })

  it('keeps event ids and revisions: the same position gets the same id, and what was sent is not sent again (EV-1, DL-8)', async () => {
    await bench.enqueue(
      exported({ n: 2 }, { channel: 'backlog', position: 1 }),
      exported({ n: 300 }, { channel: 'backlog', blockNumber: 101, position: 0 }),
      exported({ n: 400 }, { channel: 'backlog', blockNumber: 104 }),
    )
    await bench.work()
    expect(delivered()['backlog']).toEqual([...WAITING.backlog, 300, 400])
    const ids = bench.endpoint.acknowledged.map(({ event_id: id, data }) => [id, (data as { n: number }).n])
    expect(ids).toContainEqual([65, 300])
    expect(ids.filter(([id]) => id === 257)).toEqual([[257, 400]])
  })

  it('keeps dead letters, attempts and what waits for confirmations (DL-5, DL-13)', async () => {
    const [letter] = await bench.pull()
    expect(letter?.attempts).toBe(2)
    expect(letter?.bodies.map((body) => Buffer.from(body).toString())).toEqual([
      '{"export_name":"transfer","event_id":1,"timestamp_micros":1700000000000000,"version":1,"data":{"n":1}}',
    ])
    const filter = {
      outcome: null,
      isFailure: false,
      status: null,
      fromAt: null,
      untilAt: null,
      beforeId: null,
    }
    const attempts = await bench.attempts.list(await idOf('dying'), { ...filter, limit: 10 })
    expect(attempts.map(({ status }) => status)).toEqual([503, 503])
    await bench.db
      .transaction()
      .execute((tx) =>
        enqueueExports(
          tx,
          VERSION,
          { messages: [], heads: [{ chain: '1', blockNumber: 503 }] },
          bench.clock.now(),
        ),
      )
    await bench.work()
    expect(delivered()['confirming']).toEqual([1])
  })
})
