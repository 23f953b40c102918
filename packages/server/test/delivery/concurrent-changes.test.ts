import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ControlTransaction } from '../../src/database/database.ts'
import { enqueueExports } from '../../src/database/outbox.ts'
import type { ExportedMessage } from '../../src/delivery/message.ts'
import { openPostgres, type TestDatabase } from '../support/databases.ts'
import { acknowledging, createBench, exported, PROJECT_ID, type Bench } from './bench.ts'

let database: TestDatabase
let bench: Bench
beforeEach(async () => {
  database = await openPostgres()
  bench = createBench(database)
})
afterEach(() => database.close())

/** Resolves when a statement waits for what a transaction has locked. */
async function somebodyWaits(): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
      bench.db,
    )
    if (rows.length > 0) return
  }
}

/** Runs what waits for what `change` has locked, until the transaction of `change` is over. */
async function meanwhile(
  change: (tx: ControlTransaction) => Promise<unknown>,
  run: () => Promise<unknown>,
): Promise<unknown> {
  let running: Promise<unknown> = Promise.reject(new Error('nothing ran'))
  running.catch(() => undefined)
  await bench.db.transaction().execute(async (tx) => {
    await change(tx)
    running = run()
    running.catch(() => undefined)
    await somebodyWaits()
  })
  return running
}

const enqueue = (tx: ControlTransaction, message: ExportedMessage) =>
  enqueueExports(tx, PROJECT_ID, [message], bench.clock.now())

it('keeps what replaces a message while its acknowledgement is recorded on PostgreSQL (DL-8)', async () => {
  await bench.configure()
  await bench.enqueue(...[1, 2, 3].map((position) => exported('older', { position })))
  const [lane] = await bench.claim()
  if (lane === undefined) throw new Error('no lane')
  const sent = lane.first?.messages ?? []
  expect(sent).toHaveLength(3)
  const settled = await meanwhile(
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
    (tx) => tx.updateTable('webhook_message').set({ tries: 1, shelved_until_at: 1 }).execute(),
    () => bench.enqueue(exported('older', { position: 1, version: 1 })),
  )
  expect(await bench.pending()).toEqual(before)
})

it('gives exports that wait for each other numbers of their own on PostgreSQL (DL-3)', async () => {
  await bench.configure()
  await bench.enqueue(exported('first', { position: 1 }))
  await meanwhile(
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
    (tx) => enqueue(tx, exported('first', { position: 1, blockNumber: 2 })),
    () => bench.enqueue(exported('again', { position: 1, blockNumber: 2, version: 2 })),
  )
  expect((await bench.pending()).map(({ event_id }) => event_id)).toEqual([2, 66])
})
