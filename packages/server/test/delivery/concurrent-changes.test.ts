import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ControlTransaction } from '../../src/database/database.ts'
import { enqueueExports } from '../../src/database/outbox.ts'
import type { ExportedMessage } from '../../src/delivery/message.ts'
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

const enqueue = (tx: ControlTransaction, message: ExportedMessage) =>
  enqueueExports(tx, VERSION, { messages: [message], heads: [] }, bench.clock.now())

it('keeps what replaces a message while its acknowledgement is recorded on PostgreSQL (DL-8)', async () => {
  await bench.configure()
  await bench.enqueue(...[1, 2, 3].map((position) => exported('older', { position })))
  const [lane] = await bench.claim()
  if (lane === undefined) throw new Error('no lane')
  const sent = lane.first?.messages ?? []
  expect(sent).toHaveLength(3)
  const settled = await meanwhile(
    bench.db,
    (tx) => enqueue(tx, exported('newer', { position: 2 })),
    () => bench.lanes.settle(lane.claim, acknowledging(lane, sent, bench.clock.now())),
  )
  expect(settled).toMatchObject({ state: 'held' })
  expect((await bench.pending()).map(({ seq, event_id }) => ({ seq, event_id }))).toEqual([
    { seq: 4, event_id: sent[1]?.eventId },
  ])
})

it('leaves an older revision out while the newer one is being shelved on PostgreSQL (DL-4, DL-8)', async () => {
  await bench.configure()
  await bench.enqueue(exported('newer', { position: 1, version: 2 }))
  const before = await bench.pending()
  await meanwhile(
    bench.db,
    (tx) => tx.updateTable('webhook_message').set({ tries: 1, shelved_until_at: 1 }).execute(),
    () => bench.enqueue(exported('older', { position: 1, version: 1 })),
  )
  expect(await bench.pending()).toEqual(before)
})

it('gives exports that wait for each other numbers of their own on PostgreSQL (DL-3)', async () => {
  await bench.configure()
  await bench.enqueue(exported('first', { position: 1 }))
  await meanwhile(
    bench.db,
    (tx) => enqueue(tx, exported('second', { position: 2 })),
    () => bench.enqueue(exported('third', { position: 3 })),
  )
  await bench.enqueue(exported('fourth', { position: 4 }))
  expect((await bench.pending()).map(({ seq }) => seq)).toEqual([1, 2, 3, 4])
})

it('gives an export that waits for another of the same place its event id on PostgreSQL (EV-1)', async () => {
  await bench.configure()
  await bench.enqueue(exported('of another block', { position: 1, blockNumber: 1 }))
  await meanwhile(
    bench.db,
    (tx) => enqueue(tx, exported('first', { position: 1, blockNumber: 2 })),
    () => bench.enqueue(exported('again', { position: 1, blockNumber: 2, version: 2 })),
  )
  expect((await bench.pending()).map(({ event_id }) => event_id)).toEqual([2, 66])
})

it('leaves the letters that a pull is about to take to it, and takes the next ones, on PostgreSQL (DD-2)', async () => {
  await buryEach(bench, exported(1, { position: 1 }), exported(2, { position: 2 }))
  const [first, second] = (
    await bench.db.selectFrom('webhook_dead_letter').select('id').orderBy('id').execute()
  ).map(({ id }) => id)
  let pulledAt = bench.clock.now()
  const pullFirst = (tx: ControlTransaction) =>
    tx
      .updateTable('webhook_dead_letter')
      .set({ last_pulled_at: (pulledAt += 1000) })
      .where('id', '=', first ?? 0)
      .execute()
  expect(await meanwhile(bench.db, pullFirst, () => bench.pull(1))).toMatchObject([{ id: second }])
  const walk = { limit: 2, channel: null, afterId: 0, nowMs: bench.clock.now() }
  const walked = meanwhile(bench.db, pullFirst, () => bench.letters.pull(VERSION.projectId, walk))
  expect(await walked).toMatchObject([{ id: first }, { id: second }])
})
