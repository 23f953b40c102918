import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeChannelsOfProject } from '../../src/database/channel-store-removal.ts'
import { measureQueuedBytes } from '../../src/database/queued-bytes.ts'
import { deliver } from '../../src/delivery/deliver.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { ACKNOWLEDGED, createBench, exported, PROJECT_ID, refused, type Bench } from './bench.ts'

describe.each(controlDatabases)('the queue on $name', ({ open }) => {
  let database: TestDatabase
  let bench: Bench

  beforeEach(async () => {
    database = await open()
    bench = createBench(database)
  })
  afterEach(() => database.close())

  const data = () => bench.endpoint.acknowledged.map((message) => message.data)
  const ids = () => bench.endpoint.acknowledged.map((message) => message.event_id)

  it('delivers the fields of the interface in order of arrival, in one array (DL-1, DL-7)', async () => {
    await bench.configure()
    await bench.enqueue(exported('"first"'), exported({ n: 2 }))
    await bench.work()
    expect(bench.endpoint.requests).toHaveLength(1)
    expect(bench.endpoint.acknowledged[1]).toEqual({
      export_name: 'transfer',
      event_id: 2,
      timestamp_micros: 1_700_000_000_000_000,
      version: 1,
      data: { n: 2 },
    })
    expect(await bench.pending()).toEqual([])
  })

  it('forwards data byte for byte, in key order and digits (DL-1)', async () => {
    await bench.configure()
    const raw =
      '{"z":1.10,"a":9007199254740993,"z":"\\u0000 ☕","big":115792089237316195423570985008687907853.50}'
    await bench.enqueue(exported(raw))
    await bench.work()
    const body = Buffer.from(bench.endpoint.requests[0]?.body ?? []).toString()
    expect(body).toContain(`"data":${raw}}`)
  })

  it('fills batches up to the limits of messages and bytes (DL-7)', async () => {
    await bench.configure('alerts', { maxBatchMessages: 4, maxBatchBytes: 1024 })
    await bench.enqueue(...Array.from({ length: 9 }, (_, n) => exported(n)))
    await bench.enqueue(exported(`"${'x'.repeat(2000)}"`), exported(1))
    await bench.work()
    const sizes = bench.endpoint.requests.map(
      ({ body }) => (JSON.parse(Buffer.from(body).toString()) as unknown[]).length,
    )
    expect(sizes).toEqual([4, 4, 1, 1, 1])
  })

  it('gives the same ids when a block is processed again, by any version (EV-1)', async () => {
    await bench.configure()
    await bench.enqueue(exported('"a"'), exported('"b"'), exported('"c"', { blockNumber: 101 }))
    await bench.work()
    await bench.enqueue(
      exported('"a2"', { version: 2 }),
      exported('"b2"', { version: 2 }),
      exported('"c2"', { version: 2, blockNumber: 101 }),
    )
    await bench.work()
    const all = ids()
    expect(all.slice(3)).toEqual(all.slice(0, 3))
    expect(new Set(all).size).toBe(3)
  })

  it('counts positions on over batches, and anew after a rollback of the block (EV-1, IN-3)', async () => {
    await bench.configure()
    await bench.enqueue(exported('"a"'))
    await bench.enqueue(exported('"b"'))
    await bench.work()
    expect(await bench.withdraw({ aboveBlock: 99 })).toBe(0)
    await bench.enqueue(exported('"a2"'))
    await bench.work()
    const [a, b, again] = ids()
    expect(a).not.toBe(b)
    expect(again).toBe(a)
  })

  it('puts exports without a position behind the explicit ones that came with them, again the same (EV-1)', async () => {
    await bench.configure()
    const block = (version: number) => [
      exported('"first"', { version }),
      exported('"explicit"', { version, position: 5 }),
      exported('"second"', { version }),
    ]
    await bench.enqueue(...block(1))
    await bench.work()
    expect(ids()).toEqual([7, 6, 8])
    await bench.enqueue(...block(2))
    await bench.work()
    expect(ids().slice(3)).toEqual([7, 6, 8])
  })

  it('never lets two positions share an id, whatever chain, height or position (EV-2)', async () => {
    await bench.configure()
    const messages = ['1', 'solana_mainnet', ''].flatMap((chain) =>
      [0, 1, 2 ** 41].flatMap((blockNumber) =>
        [0, 1, 63, 64, 65, 2 ** 40].map((position) =>
          exported(`"${chain}/${blockNumber}/${position}"`, { chain, blockNumber, position }),
        ),
      ),
    )
    await bench.enqueue(...messages)
    await bench.work()
    expect(new Set(ids()).size).toBe(messages.length)
    expect(Math.max(...ids())).toBeLessThan(2 ** 53)
    expect(Math.min(...ids())).toBeGreaterThan(0)
  })

  it('replaces a pending older revision in place and sends only the newer one (DL-8)', async () => {
    await bench.configure()
    await bench.enqueue(exported('"old"', { position: 0 }), exported('"other"', { position: 1 }))
    await bench.enqueue(exported('"new"', { position: 0 }))
    await bench.work()
    expect(data()).toEqual(['other', 'new'])
  })

  it('does not send a revision that equals the delivered one, nor one of a lower version (DL-8)', async () => {
    await bench.configure()
    await bench.enqueue(exported('"a"', { position: 0, version: 2 }))
    await bench.work()
    await bench.enqueue(exported('"a"', { position: 0, version: 2 }))
    await bench.enqueue(exported('"a"', { position: 0, version: 1 }))
    await bench.work()
    expect(data()).toEqual(['a'])
  })

  it('sends a newer revision after the attempt of the older one has ended (DL-8)', async () => {
    await bench.configure()
    await bench.enqueue(exported('"old"', { position: 0 }))
    let isFirst = true
    bench.endpoint.answer = async () => {
      if (isFirst) {
        isFirst = false
        await bench.enqueue(exported('"new"', { position: 0 }))
      }
      return { kind: 'acknowledged', status: 200 }
    }
    await bench.work()
    expect(data()).toEqual(['old', 'new'])
    expect(await bench.pending()).toEqual([])
  })

  it('withdraws what is pending above the block, of that version and chain only (IN-3)', async () => {
    await bench.configure()
    await bench.enqueue(
      exported('"keep"', { blockNumber: 100 }),
      exported('"gone"', { blockNumber: 101 }),
      exported('"other chain"', { blockNumber: 101, chain: '2' }),
      exported('"other version"', { blockNumber: 102, version: 2 }),
    )
    expect(await bench.withdraw({ aboveBlock: 100 })).toBe(1)
    await bench.work()
    expect(data()).toEqual(['keep', 'other chain', 'other version'])
  })

  it('sends the next revision after one that was withdrawn while it was under way, whatever it equals (DL-8, IN-3)', async () => {
    await bench.configure()
    await bench.enqueue(exported('"a"', { position: 0 }))
    await bench.work()
    await bench.enqueue(exported('"b"', { position: 0 }))
    bench.endpoint.answer = async () => {
      await bench.withdraw({ aboveBlock: 99 })
      await bench.enqueue(exported('"a"', { position: 0 }))
      bench.endpoint.answer = () => ({ kind: 'acknowledged', status: 200 })
      return { kind: 'acknowledged', status: 200 }
    }
    await bench.work()
    expect(data()).toEqual(['a', 'b', 'a'])
  })

  it('does not send twice what was withdrawn and emitted again unchanged while it was under way (DL-8)', async () => {
    await bench.configure()
    await bench.enqueue(exported('"a"'))
    bench.endpoint.answer = async () => {
      await bench.withdraw({ aboveBlock: 99 })
      await bench.enqueue(exported('"a"'))
      return { kind: 'acknowledged', status: 200 }
    }
    await bench.work()
    expect(data()).toEqual(['a'])
    expect(await bench.pending()).toEqual([])
  })

  it('keeps the messages of a channel without a url, warns, and delivers them once it has one (IN-7)', async () => {
    const { warnings } = await bench.enqueue(exported('"early"'))
    expect([...warnings]).toEqual([
      ['alerts', expect.stringContaining('channel "alerts" has no url yet: 1 messages wait')],
    ])
    bench.clock.advance(48 * 3_600_000)
    await bench.work()
    expect(bench.endpoint.requests).toHaveLength(0)
    await bench.configure('alerts', { deadLetter: { ageMs: 24 * 3_600_000, attempts: 1 } })
    bench.endpoint.answer = () => refused(500)
    await bench.work()
    expect(await bench.pull()).toEqual([])
    bench.endpoint.answer = () => ({ kind: 'acknowledged', status: 200 })
    bench.clock.advance(1000)
    await bench.work()
    expect(data()).toEqual(['early'])
  })

  it('refuses a message of more than 5 MiB before anything is stored, naming it (IN-7)', async () => {
    await expect(bench.enqueue(exported('"ok"'), exported(`"${'x'.repeat(5 << 20)}"`))).rejects.toThrow(
      /data: the export "transfer" to channel "alerts" has 5242882 bytes; at most 5242880/,
    )
    expect(await bench.pending()).toEqual([])
  })

  it('keeps the event ids of a deleted channel taken (EV-1)', async () => {
    const id = await bench.configure()
    await bench.enqueue(exported('"a"', { blockNumber: 1 }))
    await bench.work()
    await bench.channels.remove(id, bench.clock.now())
    expect(await bench.channels.find(PROJECT_ID, 'alerts')).toBeNull()
    await bench.configure()
    await bench.enqueue(exported('"b"', { blockNumber: 2 }))
    await bench.work()
    expect(new Set(ids()).size).toBe(2)
  })

  it('takes exports, rollbacks and deliveries at once without waiting in a circle (DL-6)', async () => {
    await bench.configure('alerts', { maxBatchMessages: 7 })
    async function ingest(round: number): Promise<void> {
      const positions = Array.from({ length: 40 }, (_, n) => (n * 7 + round) % 40)
      await bench.enqueue(
        ...positions.map((position) => exported(round, { position, blockNumber: position % 5 })),
      )
    }
    async function ingestAll(): Promise<void> {
      for (let round = 0; round < 12; round += 1) {
        await Promise.all([ingest(round), bench.withdraw({ aboveBlock: 2 })])
      }
    }
    await Promise.all([ingestAll(), bench.work('one'), bench.work('two'), bench.work('three')])
    await ingest(99)
    await bench.work()
    const last = new Map(bench.endpoint.acknowledged.map((message) => [message.event_id, message.data]))
    expect([...last.values()]).toEqual(Array.from({ length: 40 }, () => 99))
    expect(await bench.pending()).toEqual([])
  })

  it('removes everything of a project with it, and nothing of another one', async () => {
    await bench.configure()
    await bench.enqueue(exported(1), exported(2))
    await bench.db.transaction().execute((tx) => removeChannelsOfProject(tx, PROJECT_ID + 1))
    expect(await bench.pending()).toHaveLength(2)
    await bench.db.transaction().execute((tx) => removeChannelsOfProject(tx, PROJECT_ID))
    const tables = ['webhook_lane', 'webhook_lane_state', 'webhook_lane_counter', 'webhook_message'] as const
    for (const table of [...tables, 'webhook_event_id', 'webhook_arrival'] as const) {
      expect(await bench.db.selectFrom(table).selectAll().execute()).toEqual([])
    }
  })

  it('accepts from many transactions at once without losing or doubling any (DL-6)', async () => {
    await bench.configure()
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        bench.enqueue(...Array.from({ length: 30 }, (_, k) => exported(n * 30 + k, { blockNumber: k }))),
      ),
    )
    await bench.work()
    expect(new Set(data()).size).toBe(600)
    expect(new Set(ids()).size).toBe(600)
  })

  it('counts bytes in the order of the queue when positions of old and of new blocks come together (IN-7)', async () => {
    await bench.configure()
    await bench.enqueue(exported(1, { position: 0 }))
    await bench.work()
    await bench.enqueue(
      exported(2, { position: 1 }),
      exported(3, { blockNumber: 101 }),
      exported(4, { position: 2 }),
    )
    const rows = await bench.db.selectFrom('webhook_message').select('body_bytes').execute()
    const [queued] = await measureQueuedBytes(bench.db)
    expect(queued?.bytes).toBe(rows.reduce((sum, { body_bytes: bytes }) => sum + bytes, 0))
  })

  it('knows how many bytes wait in each channel, without adding them up (IN-7)', async () => {
    await bench.configure('one', { maxBatchMessages: 2 })
    await bench.configure('two')
    const waiting = async () =>
      Object.fromEntries((await measureQueuedBytes(bench.db)).map(({ channel, bytes }) => [channel, bytes]))
    expect(await waiting()).toEqual({})
    const at = (channel: string, position: number) => exported('1'.repeat(10), { channel, position })
    await bench.enqueue(...[1, 2, 3, 4].map((position) => at('one', position)), at('two', 1))
    const [message] = await bench.db.selectFrom('webhook_message').select('body_bytes').execute()
    const bytes = message?.body_bytes ?? 0
    expect(await waiting()).toEqual({ one: 4 * bytes, two: bytes })
    // A replaced message has joined twice, and its first place counts until those before it have left.
    await bench.enqueue(exported('2'.repeat(10), { channel: 'one', position: 3, version: 2 }))
    expect(await waiting()).toEqual({ one: 5 * bytes, two: bytes })
    const lane = (await bench.claim()).find(({ channel }) => channel === 'one')
    if (!lane) throw new Error('nothing claimed')
    const stopping = new AbortController()
    bench.endpoint.answer = () => {
      stopping.abort()
      return ACKNOWLEDGED
    }
    await deliver(bench.dependencies, lane, bench.clock.monotonic(), stopping.signal)
    expect(await waiting()).toEqual({ one: 2 * bytes, two: bytes })
  })
})
