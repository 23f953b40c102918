import { sql, type RawBuilder } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createBatchStore } from '../../src/database/batch-store.ts'
import type { ControlTransaction } from '../../src/database/database.ts'
import { enqueueExports, withdrawExports } from '../../src/database/outbox.ts'
import type { ExportedMessage } from '../../src/delivery/message.ts'
import { createTestProject } from '../ingest/instance.ts'
import { openPostgres, type TestDatabase } from '../support/databases.ts'
import { acknowledging, buryEach, createBench, exported, VERSION, type Bench } from './bench.ts'
import { meanwhile } from './meanwhile.ts'

let database: TestDatabase
let bench: Bench
beforeEach(async () => {
  database = await openPostgres()
  bench = createBench(database)
})
afterEach(() => database.close())

/** Locks `first`, lets `run` come to wait for it, and then locks `second`, which fails if `run` holds that already. */
async function expectOrder(
  first: RawBuilder<unknown>,
  second: RawBuilder<unknown>,
  run: () => Promise<unknown>,
): Promise<void> {
  const lock = async (tx: ControlTransaction, row: RawBuilder<unknown>) =>
    expect((await sql`${row} for update nowait`.execute(tx)).rows).toHaveLength(1)
  await meanwhile(
    bench.db,
    (tx) => lock(tx, first),
    run,
    (tx) => lock(tx, second),
  )
}

const messageOf = (eventId: number) => sql`select seq from webhook_message where event_id = ${eventId}`
const sentOf = (eventId: number) => sql`select seq from webhook_sent where event_id = ${eventId}`
const counterOf = (laneId: number) => sql`select lane_id from webhook_lane_counter where lane_id = ${laneId}`

const store = (messages: readonly ExportedMessage[], block = 0) =>
  bench.db
    .transaction()
    .execute((tx) =>
      enqueueExports(
        tx,
        VERSION,
        { messages, heads: block === 0 ? [] : [{ chain: '1', blockNumber: block }] },
        bench.clock.now(),
      ),
    )

/** Events 1 and 2 as the receiver has them, and newer revisions in the queue, the later event first; claimed. */
async function claimOverrides({ isRetracting = false } = {}) {
  const id = await bench.configure()
  if (isRetracting) await bench.channels.change(id, { isRetracting }, '', bench.clock.now())
  const of = (position: number, data: string) => exported(`"${data}"`, { position })
  await bench.enqueue(of(0, 'old'), of(1, 'old'))
  await bench.work()
  await bench.enqueue(of(1, 'new'), of(0, 'new'))
  const [lane] = await bench.claim()
  if (lane?.first == null) throw new Error('nothing claimed')
  const { messages } = lane.first
  expect(messages.map(({ eventId }) => eventId)).toEqual([2, 1])
  const settle = () =>
    bench.lanes.settle(lane.claim, {
      ...acknowledging(lane, messages, bench.clock.now()),
      isRetracting,
    })
  return { lane, messages, settle, of }
}

it.each([false, true])(
  'remembers what was acknowledged in the order of event ids, retracting or not: %s (DL-6, DL-13)',
  async (isRetracting) => {
    const { settle } = await claimOverrides({ isRetracting })
    await expectOrder(sentOf(1), sentOf(2), settle)
    expect(await bench.pending()).toEqual([])
  },
)

it('announces messages in the order of event ids (DL-6, DL-13)', async () => {
  const { lane, messages } = await claimOverrides({ isRetracting: true })
  await expectOrder(sentOf(1), sentOf(2), async () => {
    expect(await bench.lanes.announce(lane.claim, messages, bench.clock.now())).toBe(true)
  })
})

it('forgets what was sent of withdrawn messages in the order of event ids (DL-6, DL-8)', async () => {
  await claimOverrides()
  await expectOrder(sentOf(1), sentOf(2), () => bench.withdraw())
  expect(await bench.pending()).toEqual([])
})

it('takes what was emitted again unchanged out of the queue before it remembers what was sent (DL-6, DL-8)', async () => {
  const { settle, of } = await claimOverrides()
  await bench.withdraw()
  await bench.enqueue(of(0, 'new'), of(1, 'new'))
  await expectOrder(messageOf(1), sentOf(1), settle)
  expect(await bench.pending()).toEqual([])
})

it('locks the channels of all batches that are finished together in one order (DL-6)', async () => {
  const { id: projectId } = await createTestProject(database)
  const version = { projectId, version: 1 }
  for (const name of ['a', 'b']) {
    const settings = { url: 'https://receiver.example/', secret: 'whsec_AAAA' }
    await bench.channels.create(projectId, name, settings, bench.clock.now())
  }
  const [first = 0, second = 0] = (await bench.channels.list(projectId)).map(({ id }) => id)
  const batches = createBatchStore(bench.db, { enqueueExports, withdrawExports })
  const begun = await batches.begin(
    version,
    ['one', 'two'].map((batchId) => ({ batchId, contentHash: '', tables: [] })),
    { owner: 'instance', until: 1 },
  )
  const finished = ['b', 'a'].map((channel, index) => {
    const start = begun[index]
    if (start?.state !== 'open') throw new Error('not begun')
    return { sequence: start.sequence, accepted: 1, warnings: [], exports: [exported('1', { channel })] }
  })
  await expectOrder(counterOf(first), counterOf(second), () =>
    batches.finish(version, finished, { days: [], heads: [] }, 0),
  )
  const lanes = (await bench.pending()).map((row) => row.lane_id)
  expect(lanes.toSorted((a, b) => a - b)).toEqual([first, second])
})

it('locks the heads of chains before channels, as a rollback does (DL-6, DL-13)', async () => {
  const id = await bench.configure()
  await bench.channels.change(id, { confirmations: 2 }, '', bench.clock.now())
  await store([], 5)
  const head = sql`select chain from webhook_chain_head`
  await expectOrder(head, counterOf(id), () => store([exported('1', { blockNumber: 6 })], 6))
  await expectOrder(head, counterOf(id), () => bench.withdraw({ aboveBlock: 5 }))
})

it('locks channels that wait for blocks together with those of the exports, in one order (DL-6, DL-13)', async () => {
  const [waiting, plain] = [await bench.configure('waiting'), await bench.configure('plain')]
  await bench.channels.change(waiting, { confirmations: 2 }, '', bench.clock.now())
  await expectOrder(counterOf(waiting), counterOf(plain), () =>
    store([exported('1', { channel: 'plain', blockNumber: 6 })], 6),
  )
})

it('creates channels in the order of their names (DL-6, IN-7)', async () => {
  await bench.configure('a')
  await bench.configure('b')
  for (const name of ['a', 'b']) {
    const channel = await bench.channels.find(VERSION.projectId, name)
    if (channel) await bench.channels.remove(channel.id, bench.clock.now())
  }
  const channelOf = (name: string) => sql`select id from webhook_lane where name = ${name}`
  await expectOrder(channelOf('a'), channelOf('b'), () =>
    store([exported('1', { channel: 'b' }), exported('2', { channel: 'a' })]),
  )
})

it('locks dead letters in the order of their ids, also those that were pulled in another (DL-6, DD-2, DD-4)', async () => {
  await buryEach(bench, exported(1, { position: 1 }), exported(2, { position: 2 }))
  const [first] = await bench.pull(1)
  const [second] = await bench.pull(1)
  await bench.pull(1)
  const letterOf = (id = 0) => sql`select id from webhook_dead_letter where id = ${id}`
  const all = { ids: null, channel: null }
  await expectOrder(letterOf(first?.id), letterOf(second?.id), async () => {
    expect((await bench.pull()).map(({ id }) => id)).toEqual([second?.id, first?.id])
  })
  await expectOrder(letterOf(first?.id), letterOf(second?.id), () =>
    bench.letters.requestRedrive(VERSION.projectId, all, bench.clock.now()),
  )
  await expectOrder(letterOf(first?.id), letterOf(second?.id), () =>
    bench.letters.dismiss(VERSION.projectId, all),
  )
})
