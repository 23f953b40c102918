import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ALL_ATTEMPTS } from '../../src/delivery/attempt.ts'
import { deliver } from '../../src/delivery/deliver.ts'
import type { LeftLane, Surroundings } from '../../src/delivery/deliver-dependencies.ts'
import type { Outcome } from '../../src/delivery/outcome.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { ACKNOWLEDGED, createBench, exported, refused, type Bench, type Received } from './bench.ts'

const AT_ONCE = 4

/** A request that waits for its answer. */
interface Held {
  readonly messages: readonly Received[]
  answer(outcome: Outcome): void
}

describe.each(controlDatabases)('several requests at once on $name', ({ open }) => {
  let database: TestDatabase
  let bench: Bench
  /** In order of their beginning; what is answered stays. */
  let requests: Held[]
  let begun: () => void

  beforeEach(async () => {
    database = await open()
    bench = createBench(database)
    requests = []
    begun = () => {}
    bench.endpoint.answer = (messages) =>
      new Promise((answer) => {
        requests.push({ messages, answer })
        begun()
      })
  })
  afterEach(() => database.close())

  const data = (at: number) => requests[at]?.messages.map((message) => message.data)

  async function untilBegun(count: number): Promise<void> {
    while (requests.length < count) {
      await new Promise<void>((resolve) => {
        begun = resolve
      })
    }
  }

  /** Serves the one lane that is ready; `places` are for requests beside its first. */
  async function serve(places = 100) {
    let wake = () => {}
    let free = places
    const given = Promise.withResolvers<undefined>()
    const surroundings: Surroundings = {
      takePlace: () => free > 0 && free-- > 0,
      givePlace: () => {
        free += 1
        given.resolve(undefined)
      },
      onWake: (_, listener) => {
        wake = listener
      },
    }
    const stopping = new AbortController()
    const [lane] = await bench.claim()
    if (!lane) throw new Error('no lane is ready')
    const left = deliver(bench.dependencies, lane, bench.clock.monotonic(), stopping.signal, surroundings)
    return {
      left,
      stop: () => stopping.abort(),
      wake: () => wake(),
      takePlaces: () => (free = 0),
      freePlaces: () => free,
      placeGiven: given.promise,
    }
  }

  async function configure(limits = {}): Promise<number> {
    return bench.configure('alerts', { requestsAtOnce: AT_ONCE, maxBatchMessages: 2, ...limits })
  }

  const enqueue = (...values: readonly unknown[]) =>
    bench.enqueue(
      ...values.map((value, index) => exported(JSON.stringify(value), { position: index, blockNumber: 100 })),
    )

  it('has as many under way as the channel allows, and a message in one of them (DL-3)', async () => {
    await configure()
    await enqueue(...Array.from({ length: 11 }, (_, n) => n))
    const { left, freePlaces } = await serve()
    await untilBegun(AT_ONCE)
    expect(requests.map(({ messages }) => messages.map((message) => message.data))).toEqual([
      [0, 1],
      [2, 3],
      [4, 5],
      [6, 7],
    ])
    requests[2]?.answer(ACKNOWLEDGED)
    await untilBegun(5)
    expect(data(4)).toEqual([8, 9])
    for (const at of [4, 0, 1, 3]) requests[at]?.answer(ACKNOWLEDGED)
    await untilBegun(6)
    requests[5]?.answer(ACKNOWLEDGED)
    expect(await left).toBe('idle' satisfies LeftLane)
    expect(
      bench.endpoint.acknowledged.map((message) => Number(message.data)).toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: 11 }, (_, n) => n))
    expect(await bench.pending()).toEqual([])
    expect(freePlaces()).toBe(100)
    expect(await bench.claim()).toEqual([])
  })

  it('sends what comes meanwhile without waiting for an answer (DL-3)', async () => {
    await configure()
    await enqueue('first')
    const { left, wake } = await serve()
    await untilBegun(1)
    await bench.enqueue(exported('"second"', { blockNumber: 101 }))
    wake()
    await untilBegun(2)
    expect(data(1)).toEqual(['second'])
    requests[1]?.answer(ACKNOWLEDGED)
    requests[0]?.answer(ACKNOWLEDGED)
    expect(await left).toBe('idle' satisfies LeftLane)
    expect(await bench.pending()).toEqual([])
  })

  it('sends no revision of an event beside another of it (DL-8)', async () => {
    await configure()
    await enqueue('old', 'other')
    const { left, wake } = await serve()
    await untilBegun(1)
    await bench.enqueue(
      exported('"before"', { blockNumber: 101 }),
      exported('"new"', { position: 0, version: 2 }),
      exported('"behind"', { blockNumber: 102 }),
    )
    wake()
    await untilBegun(2)
    expect(data(1)).toEqual(['before'])
    requests[1]?.answer(ACKNOWLEDGED)
    wake()
    requests[0]?.answer(ACKNOWLEDGED)
    await untilBegun(3)
    expect(data(2)).toEqual(['new', 'behind'])
    requests[2]?.answer(ACKNOWLEDGED)
    expect(await left).toBe('idle' satisfies LeftLane)
    expect(await bench.pending()).toEqual([])
  })

  it('records what is acknowledged beside a failure, begins nothing after it, and goes on one by one with what failed (DL-3, DL-6)', async () => {
    const id = await configure()
    await enqueue(...Array.from({ length: 12 }, (_, n) => n))
    const { left } = await serve()
    await untilBegun(4)
    requests[1]?.answer(refused(503))
    requests[3]?.answer(refused(503))
    requests[0]?.answer(ACKNOWLEDGED)
    requests[2]?.answer(ACKNOWLEDGED)
    expect(await left).toBe('waiting' satisfies LeftLane)
    expect(requests).toHaveLength(4)
    expect(await bench.channels.find(7, 'alerts')).toMatchObject({ status: 'failing', failures: 1 })
    expect(await bench.pending()).toHaveLength(8)
    expect((await bench.attempts.list(id, { limit: 10, beforeId: null, ...ALL_ATTEMPTS })).length).toBe(4)
    bench.clock.advance(1000)
    const again = await serve()
    await untilBegun(5)
    expect(data(4)).toEqual([2, 3])
    requests[4]?.answer(ACKNOWLEDGED)
    await untilBegun(7)
    expect([data(5), data(6)]).toEqual([
      [6, 7],
      [8, 9],
    ])
    await untilBegun(8)
    for (const request of requests.slice(5)) request.answer(ACKNOWLEDGED)
    expect(await again.left).toBe('idle' satisfies LeftLane)
    expect(
      bench.endpoint.acknowledged.map((message) => Number(message.data)).toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: 12 }, (_, n) => n))
    expect(await bench.pending()).toEqual([])
  })

  it.each([
    ['a rate', { requestsPerSecond: 1000 }],
    ['one request at a time', { requestsAtOnce: 1 }],
  ])('has one under way with %s (DL-3)', async (_, limits) => {
    await configure(limits)
    await enqueue(...Array.from({ length: 6 }, (_, n) => n))
    const { left, stop, wake } = await serve()
    await untilBegun(1)
    wake()
    stop()
    requests[0]?.answer(ACKNOWLEDGED)
    expect(['more', 'waiting']).toContain(await left)
    expect(requests).toHaveLength(1)
  })

  it('has no more under way than there are places (DL-9)', async () => {
    await configure()
    await enqueue(...Array.from({ length: 10 }, (_, n) => n))
    const { left, takePlaces, freePlaces } = await serve(2)
    await untilBegun(3)
    expect(freePlaces()).toBe(0)
    takePlaces()
    for (let n = 0; n < 5; n += 1) {
      await untilBegun(n + 1)
      requests[n]?.answer(ACKNOWLEDGED)
    }
    expect(await left).toBe('idle' satisfies LeftLane)
    expect(await bench.pending()).toEqual([])
  })

  it('holds no place for a request that there is nothing for (DL-9)', async () => {
    await configure()
    await enqueue('first')
    const { left, placeGiven, freePlaces } = await serve(2)
    await placeGiven
    expect([requests.length, freePlaces()]).toEqual([1, 2])
    requests[0]?.answer(ACKNOWLEDGED)
    expect(await left).toBe('idle' satisfies LeftLane)
  })

  it('keeps the lease while a request is under way, whatever became of its messages (DL-6)', async () => {
    await configure()
    await enqueue(0, 1, 2, 3)
    const { left } = await serve()
    await untilBegun(2)
    await bench.withdraw({ aboveBlock: 99 })
    requests[1]?.answer(ACKNOWLEDGED)
    await bench.enqueue(exported('"again"', { position: 0 }))
    expect(await bench.claim('another')).toEqual([])
    requests[0]?.answer(ACKNOWLEDGED)
    await untilBegun(3)
    expect(data(2)).toEqual(['again'])
    requests[2]?.answer(ACKNOWLEDGED)
    expect(await left).toBe('idle' satisfies LeftLane)
  })

  it('ends after what is under way when it is told to stop (DL-6)', async () => {
    await configure()
    await enqueue(...Array.from({ length: 12 }, (_, n) => n))
    const { left, stop } = await serve()
    await untilBegun(4)
    stop()
    for (const request of requests) request.answer(ACKNOWLEDGED)
    expect(await left).toBe('more' satisfies LeftLane)
    expect(requests).toHaveLength(4)
    expect(await bench.pending()).toHaveLength(4)
    expect(await bench.claim('another')).toHaveLength(1)
  })

  it('buries what was refused beside what is acknowledged, and only that (DL-5)', async () => {
    await configure({ deadLetter: { ageMs: 0, attempts: 1 } })
    await enqueue(0, 1, 2, 3)
    const { left } = await serve()
    await untilBegun(2)
    requests[0]?.answer(refused(500))
    requests[1]?.answer(ACKNOWLEDGED)
    expect(await left).toBe('waiting' satisfies LeftLane)
    expect((await bench.pull()).map((letter) => letter.bodies.length)).toEqual([2])
    expect(await bench.pending()).toEqual([])
  })
})
