import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { enqueueExports } from '../../src/database/outbox.ts'
import type { ChannelChange } from '../../src/delivery/channel.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { ACKNOWLEDGED, createBench, exported, PROJECT_ID, refused, type Bench } from './bench.ts'

describe.each(controlDatabases)('confirmations and retractions on $name', ({ open }) => {
  let database: TestDatabase
  let bench: Bench

  beforeEach(async () => {
    database = await open()
    bench = createBench(database)
  })
  afterEach(() => database.close())

  async function configure(change: ChannelChange): Promise<number> {
    const id = await bench.configure()
    await bench.channels.change(id, change, '', bench.clock.now())
    return id
  }

  const head = (blockNumber: number, chain = '1', version = 1) =>
    bench.db
      .transaction()
      .execute((tx) =>
        enqueueExports(
          tx,
          { projectId: PROJECT_ID, version },
          { messages: [], heads: [{ chain, blockNumber }] },
          bench.clock.now(),
        ),
      )
  const at = (blockNumber: number, data: string) => exported(`"${data}"`, { blockNumber, position: 0 })

  async function delivered(): Promise<readonly unknown[]> {
    await bench.work()
    return bench.endpoint.acknowledged.map(({ data }) => data)
  }

  it('holds a message until its block is that deep, and counts it as held (DL-13)', async () => {
    await configure({ confirmations: 3 })
    await bench.enqueue(at(100, 'a'), at(101, 'b'))
    await head(102)
    expect(await delivered()).toEqual([])
    expect(await bench.channels.find(PROJECT_ID, 'alerts')).toMatchObject({
      pendingMessages: 0,
      heldMessages: 2,
    })
    await head(110, 'another chain')
    expect(await delivered()).toEqual([])
    await head(103)
    expect(await delivered()).toEqual(['a'])
    await head(104)
    expect(await delivered()).toEqual(['a', 'b'])
    await bench.enqueue(at(50, 'long ago'))
    expect(await delivered()).toEqual(['a', 'b', 'long ago'])
  })

  it('never sends what a reorganisation undid before it was confirmed (DL-13, IN-3)', async () => {
    await configure({ confirmations: 2 })
    await bench.enqueue(at(100, 'kept'), at(101, 'undone'))
    await head(102)
    expect(await delivered()).toEqual(['kept'])
    expect(await bench.withdraw({ aboveBlock: 100 })).toBe(1)
    await head(101)
    await bench.enqueue(at(101, 'instead'))
    expect(await delivered()).toEqual(['kept'])
    await head(103)
    expect(await delivered()).toEqual(['kept', 'instead'])
  })

  it('lets a held revision replace the pending one, and what is held go when confirmations end (DL-8, DL-13)', async () => {
    const id = await bench.configure()
    await bench.enqueue(at(100, 'old'))
    await bench.channels.change(id, { confirmations: 5 }, '', bench.clock.now())
    await bench.enqueue(at(100, 'new'))
    expect(await delivered()).toEqual([])
    await bench.enqueue(at(100, 'newer'))
    await bench.channels.change(id, { confirmations: 0 }, '', bench.clock.now())
    expect(await delivered()).toEqual(['newer'])
  })

  it('retracts a delivered message that was not emitted again, and no other (DL-13)', async () => {
    await configure({ isRetracting: true })
    await bench.enqueue(at(100, 'kept'), at(101, 'again'), at(102, 'changed'), at(103, 'gone'))
    await head(103)
    expect(await delivered()).toHaveLength(4)
    await bench.withdraw({ aboveBlock: 100 })
    await bench.enqueue(at(101, 'again'))
    await head(101)
    await bench.enqueue(at(102, 'changed now'))
    await head(102)
    expect((await delivered()).slice(4)).toEqual(['changed now'])
    await head(104)
    await bench.work()
    const gone = bench.endpoint.acknowledged[3]
    expect(bench.endpoint.acknowledged.slice(5)).toEqual([{ ...gone, data: null, retracted: true }])
    await head(110)
    await bench.work()
    expect(bench.endpoint.acknowledged).toHaveLength(6)
  })

  it('retracts what an older version delivered, when the newer revision of it was withdrawn (DL-13)', async () => {
    await configure({ isRetracting: true })
    await bench.enqueue(at(100, 'a'))
    await bench.work()
    await bench.enqueue(exported('"a2"', { version: 2, blockNumber: 100, position: 0 }))
    await bench.withdraw({ aboveBlock: 99, version: 2 })
    await head(101, '1', 2)
    expect(await delivered()).toEqual(['a', null])
  })

  it('overrides a retraction when the message is emitted after all (DL-13, DL-8)', async () => {
    await configure({ isRetracting: true })
    await bench.enqueue(at(100, 'a'))
    await bench.work()
    await bench.withdraw({ aboveBlock: 99 })
    await head(105)
    await bench.work()
    await bench.enqueue(at(100, 'a'))
    expect(await delivered()).toEqual(['a', null, 'a'])
    expect(new Set(bench.endpoint.acknowledged.map(({ event_id }) => event_id)).size).toBe(1)
  })

  it('retracts what was withdrawn while it was under way (DL-13)', async () => {
    await configure({ isRetracting: true })
    await bench.enqueue(at(100, 'a'))
    bench.endpoint.answer = async () => {
      bench.endpoint.answer = () => ACKNOWLEDGED
      await bench.withdraw({ aboveBlock: 99 })
      return ACKNOWLEDGED
    }
    await bench.work()
    await head(101)
    expect(await delivered()).toEqual(['a', null])
  })

  it('retracts what the receiver may have taken though it did not acknowledge it (DL-13)', async () => {
    await configure({ isRetracting: true })
    await bench.enqueue(at(100, 'a'))
    bench.endpoint.answer = () => refused(500)
    await bench.work()
    await bench.withdraw({ aboveBlock: 99 })
    bench.endpoint.answer = () => ACKNOWLEDGED
    await head(101)
    bench.clock.advance(2000)
    await bench.work()
    expect(bench.endpoint.requests).toHaveLength(2)
    expect(bench.endpoint.acknowledged).toMatchObject([{ data: null, retracted: true }])
    expect(await bench.pending()).toEqual([])
  })

  it('makes a retraction again that was not acknowledged before the next rollback (DL-13)', async () => {
    await configure({ isRetracting: true })
    await bench.enqueue(at(100, 'a'))
    await bench.work()
    await bench.withdraw({ aboveBlock: 99 })
    bench.endpoint.answer = () => refused(500)
    await head(101)
    await bench.work()
    await bench.withdraw({ aboveBlock: 99 })
    bench.endpoint.answer = () => ACKNOWLEDGED
    await head(101)
    bench.clock.advance(2000)
    await bench.work()
    expect(bench.endpoint.acknowledged).toMatchObject([{ data: 'a' }, { data: null, retracted: true }])
  })

  it('sends no retraction to a channel that did not ask for it (DL-13)', async () => {
    await bench.configure()
    await bench.enqueue(at(100, 'a'))
    await bench.work()
    await bench.withdraw({ aboveBlock: 99 })
    await head(105)
    bench.endpoint.answer = () => refused(500)
    expect(await delivered()).toEqual(['a'])
  })
})
