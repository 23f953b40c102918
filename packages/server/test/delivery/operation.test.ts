import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAlertStore } from '../../src/database/alert-store.ts'
import { ALL_ATTEMPTS } from '../../src/delivery/attempt.ts'
import { DEFAULT_LIMITS } from '../../src/delivery/channel.ts'
import { deliver } from '../../src/delivery/deliver.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import {
  ACKNOWLEDGED,
  claimRequest,
  createBench,
  exported,
  PROJECT_ID,
  refused,
  type Bench,
} from './bench.ts'

const DIES_AT_ONCE = { deadLetter: { ageMs: 0, attempts: 1 } }
const HOUR_MS = 3_600_000

describe.each(controlDatabases)('operating channels on $name', ({ open }) => {
  let database: TestDatabase
  let bench: Bench

  beforeEach(async () => {
    database = await open()
    bench = createBench(database)
  })
  afterEach(() => database.close())

  const data = () => bench.endpoint.acknowledged.map((message) => message.data)

  async function killAll(): Promise<void> {
    bench.endpoint.answer = () => refused(500)
    await bench.work()
    bench.endpoint.answer = () => ACKNOWLEDGED
    bench.clock.advance(2 * HOUR_MS)
  }

  const ALL = { ids: null, channel: null }

  it('sends dead letters again in order, bytes unchanged, and they leave the pull (DD-4, DL-1)', async () => {
    await bench.configure('alerts', { ...DIES_AT_ONCE, maxBatchMessages: 2 })
    const raw = '{"z":1.10,"a":9007199254740993,"n":"\\u0000 ☕"}'
    await bench.enqueue(exported('"a"'), exported(raw), exported('"c"'))
    for (let n = 0; n < 2; n += 1) await killAll()
    const letters = await bench.pull()
    expect(letters.map(({ bodies }) => bodies.length)).toEqual([2, 1])
    expect(await bench.letters.requestRedrive(PROJECT_ID, ALL, bench.clock.now())).toBe(2)
    expect(await bench.letters.requestRedrive(PROJECT_ID, ALL, bench.clock.now())).toBe(0)
    expect(await bench.letters.redrive(1000, bench.clock.now())).toBe(3)
    const before = bench.endpoint.requests.length
    await bench.work()
    const sent = bench.endpoint.requests.slice(before).map(({ body }) => Buffer.from(body).toString())
    expect(sent.join()).toContain(`"data":${raw}}`)
    expect(data().map((one) => (typeof one === 'string' ? one : 'raw'))).toEqual(['a', 'raw', 'c'])
    expect(await bench.pull()).toEqual([])
  })

  it('redrives one letter, or those of a channel, and leaves the others (DD-4)', async () => {
    for (const channel of ['a', 'b']) {
      await bench.configure(channel, { ...DIES_AT_ONCE, maxBatchMessages: 1 })
      await bench.enqueue(exported(1, { channel }), exported(2, { channel }))
    }
    for (let n = 0; n < 2; n += 1) await killAll()
    const counts = async () => (await bench.channels.list(PROJECT_ID)).map(({ deadLetters }) => deadLetters)
    expect(await counts()).toEqual([2, 2])
    const listed = (channel: string, afterId: number | null = null) =>
      bench.letters.list(PROJECT_ID, { channel, afterId, limit: 10, nowMs: bench.clock.now() })
    const [first, second] = await listed('a')
    expect(await listed('a', first?.id)).toEqual([second])
    expect(first).toMatchObject({ messages: 1, lastStatus: 500, redriveAt: null })
    const one = { ids: [first?.id ?? 0], channel: null }
    expect(await bench.letters.requestRedrive(PROJECT_ID + 1, one, bench.clock.now())).toBe(0)
    expect(await bench.letters.requestRedrive(PROJECT_ID, one, bench.clock.now())).toBe(1)
    expect((await listed('a'))[0]?.redriveAt).toBe(bench.clock.now())
    await bench.letters.redrive(1000, bench.clock.now())
    expect(await listed('a')).toHaveLength(1)
    expect(await bench.letters.dismiss(PROJECT_ID, { ids: null, channel: 'b' })).toBe(2)
    expect(await listed('b')).toEqual([])
    expect(await counts()).toEqual([1, 0])
    expect(await listed('a')).toHaveLength(1)
  })

  it('redrives a part at a time and none while as much waits, so an endpoint is not flooded (DD-4)', async () => {
    await bench.configure('alerts', { ...DIES_AT_ONCE, maxBatchMessages: 2 })
    await bench.enqueue(...Array.from({ length: 10 }, (_, n) => exported(n)))
    for (let n = 0; n < 5; n += 1) await killAll()
    await bench.letters.requestRedrive(PROJECT_ID, ALL, bench.clock.now())
    expect(await bench.letters.redrive(4, bench.clock.now())).toBe(4)
    expect(await bench.letters.redrive(4, bench.clock.now())).toBe(0)
    await bench.work()
    expect(await bench.letters.redrive(4, bench.clock.now())).toBe(4)
    await bench.work()
    expect(await bench.letters.redrive(4, bench.clock.now())).toBe(2)
    await bench.work()
    expect(data()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('redrives no message that a newer revision has superseded (DL-8, DD-4)', async () => {
    await bench.configure('alerts', DIES_AT_ONCE)
    await bench.enqueue(exported('"old"', { position: 0 }), exported('"kept"', { position: 1 }))
    await killAll()
    await bench.letters.requestRedrive(PROJECT_ID, ALL, bench.clock.now())
    await bench.enqueue(exported('"new"', { position: 0 }))
    await bench.letters.redrive(1000, bench.clock.now())
    await bench.work()
    expect(data().map(String).toSorted()).toEqual(['kept', 'new'])
  })

  it('signs with both secrets while they overlap, then with the new one alone (DL-1)', async () => {
    const id = await bench.configure()
    await bench.channels.rotateSecret(id, 'whsec_BBBB', bench.clock.now() + HOUR_MS)
    await bench.enqueue(exported(1))
    await bench.work()
    bench.clock.advance(HOUR_MS)
    await bench.enqueue(exported(2))
    await bench.work()
    expect(bench.endpoint.requests.map(({ secrets }) => secrets)).toEqual([
      ['whsec_BBBB', 'whsec_AAAA'],
      ['whsec_BBBB'],
    ])
  })

  it('keeps a channel to its rate (DL-3)', async () => {
    await bench.configure('alerts', { requestsPerSecond: 4, maxBatchMessages: 1 })
    await bench.enqueue(exported(1), exported(2), exported(3))
    await bench.work()
    expect(data()).toEqual([1])
    bench.clock.advance(248)
    await bench.work()
    expect(data()).toEqual([1])
    bench.clock.advance(1)
    await bench.work()
    expect(data()).toEqual([1, 2])
  })

  it('gives a channel one request at a time unless it is set otherwise, and tells whoever claims it (DL-3)', async () => {
    await bench.configure('one')
    const id = await bench.configure('several', { requestsAtOnce: 16 })
    await bench.enqueue(exported(1, { channel: 'one' }), exported(2, { channel: 'several' }))
    const claimed = await bench.claim()
    expect(new Map(claimed.map(({ channel, limits }) => [channel, limits.requestsAtOnce]))).toEqual(
      new Map([
        ['one', 1],
        ['several', 16],
      ]),
    )
    const limits = { ...DEFAULT_LIMITS, requestsAtOnce: 2 }
    await bench.channels.change(id, { limits }, '', bench.clock.now())
    expect((await bench.channels.find(PROJECT_ID, 'several'))?.limits).toEqual(limits)
  })

  it('claims no more lanes of one host than it may have under way (DL-9)', async () => {
    for (let n = 0; n < 9; n += 1) {
      await bench.configure(`channel ${n}`)
      await bench.enqueue(exported(n, { channel: `channel ${n}` }))
    }
    const claim = (busy: number) =>
      bench.lanes.claim(
        claimRequest('w', bench.clock.now(), {
          hostLimit: 4,
          busyHosts: new Map([['receiver.example', busy]]),
        }),
      )
    expect(await claim(4)).toEqual([])
    expect(await claim(3)).toHaveLength(1)
    expect(await claim(2)).toHaveLength(2)
    expect(await claim(0)).toHaveLength(2)
  })

  it('tells of a failure at 5 minutes, 1 hour and 24 hours and of its end, once each (DL-12)', async () => {
    await bench.configure('alerts', { backoff: { initialMs: 10, capMs: 10 } })
    await bench.enqueue(exported(1))
    const alerts = createAlertStore(bench.db)
    bench.endpoint.answer = () => refused(503)
    const told: string[] = []
    async function takeAfter(ms: number): Promise<void> {
      bench.clock.advance(ms)
      told.push(...(await alerts.take(bench.clock.now())).map(({ level }) => level))
    }
    await bench.work()
    for (const ms of [0, 299_999, 1, 1, HOUR_MS - 300_001, 1, 23 * HOUR_MS, 1]) await takeAfter(ms)
    expect(told).toEqual(['failing_5_minutes', 'failing_1_hour', 'failing_24_hours'])
    bench.endpoint.answer = () => ACKNOWLEDGED
    await bench.work()
    for (const ms of [0, 1]) await takeAfter(ms)
    expect(told.slice(3)).toEqual(['none'])
  })

  it('tells of an end only when something was acknowledged, and anew of a channel that fails again (DL-12)', async () => {
    const id = await bench.configure('alerts', { backoff: { initialMs: 10, capMs: 10 } })
    await bench.enqueue(exported(1))
    const alerts = createAlertStore(bench.db)
    const resume = () => bench.channels.change(id, { isPaused: false }, '', bench.clock.now())
    const told = async () => (await alerts.take(bench.clock.now())).map(({ level }) => level)
    bench.endpoint.answer = () => refused(410)
    await bench.work()
    expect(await told()).toEqual(['disabled'])
    await resume()
    expect(await told()).toEqual([])
    await bench.work()
    expect(await told()).toEqual(['disabled'])
    await resume()
    bench.endpoint.answer = () => refused(503)
    await bench.work()
    bench.clock.advance(300_000)
    expect(await told()).toEqual(['failing_5_minutes'])
    await resume()
    bench.endpoint.answer = () => ACKNOWLEDGED
    await bench.work()
    expect(await told()).toEqual(['none'])
    expect(await told()).toEqual([])
  })

  it('tells nothing of a channel that its operator has paused (DL-12)', async () => {
    const id = await bench.configure('alerts')
    await bench.enqueue(exported(1))
    bench.endpoint.answer = () => refused(503)
    await bench.work()
    await bench.channels.change(id, { isPaused: true }, '', bench.clock.now())
    bench.clock.advance(25 * HOUR_MS)
    expect(await createAlertStore(bench.db).take(bench.clock.now())).toEqual([])
  })

  it('sends what it tells to the alert channel, also that a channel was disabled (DL-12)', async () => {
    await bench.configure('watch')
    const id = await bench.configure('failing')
    await bench.channels.change(id, { alertChannel: 'watch' }, '', bench.clock.now())
    await bench.enqueue(exported(1, { channel: 'failing' }))
    bench.endpoint.answer = () => refused(410)
    await bench.work()
    const [alert] = await createAlertStore(bench.db).take(bench.clock.now())
    expect(alert).toMatchObject({ channel: 'failing', level: 'disabled', projectId: PROJECT_ID })
    bench.endpoint.answer = () => ACKNOWLEDGED
    await bench.work()
    expect(bench.endpoint.acknowledged).toMatchObject([
      {
        export_name: 'millrace_channel_alert',
        data: { channel: 'failing', level: 'disabled', last_error: 'the endpoint answered 410' },
      },
    ])
  })

  it('counts the success rate of the newest attempts and filters them (DL-11, DL-12)', async () => {
    const id = await bench.configure('alerts', { backoff: { initialMs: 10, capMs: 10 }, maxBatchMessages: 1 })
    await bench.enqueue(exported(1), exported(2), exported(3))
    const startedAt = bench.clock.now()
    bench.endpoint.answer = () => refused(502)
    await bench.work()
    bench.clock.advance(10)
    bench.endpoint.answer = () => ({ kind: 'timed_out' })
    await bench.work()
    expect(await bench.channels.find(PROJECT_ID, 'alerts')).toMatchObject({
      recentAttempts: 2,
      recentAcknowledged: 0,
      lastError: 'no answer within the deadline',
    })
    bench.clock.advance(10)
    bench.endpoint.answer = () => ACKNOWLEDGED
    await bench.work()
    expect(await bench.channels.find(PROJECT_ID, 'alerts')).toMatchObject({
      recentAttempts: 5,
      recentAcknowledged: 3,
      lastError: null,
    })
    const outcomes = async (filter: Partial<typeof ALL_ATTEMPTS>) =>
      (await bench.attempts.list(id, { ...ALL_ATTEMPTS, limit: 10, beforeId: null, ...filter })).map(
        ({ outcome }) => outcome,
      )
    expect(await outcomes({ isFailure: true })).toEqual(['timed_out', 'refused'])
    expect(await outcomes({ outcome: 'acknowledged' })).toHaveLength(3)
    expect(await outcomes({ status: 502 })).toEqual(['refused'])
    expect(await outcomes({ fromAt: startedAt + 5, untilAt: startedAt + 15 })).toEqual(['timed_out'])
  })

  it('serves a channel at once after it was paused and resumed during an attempt (DL-12, DL-6)', async () => {
    const id = await bench.configure('alerts', { maxBatchMessages: 1 })
    await bench.enqueue(exported(1), exported(2))
    bench.endpoint.answer = async () => {
      bench.endpoint.answer = () => ACKNOWLEDGED
      await bench.channels.change(id, { isPaused: true }, '', bench.clock.now())
      await bench.channels.change(id, { isPaused: false }, '', bench.clock.now())
      return ACKNOWLEDGED
    }
    await bench.work()
    expect(data()).toEqual([1, 2])
  })

  it('settles again while the database does not take it and the lease lasts (DL-6)', async () => {
    await bench.configure()
    await bench.enqueue(exported(1))
    const { lanes } = bench
    let failures = 0
    const [lane] = await bench.claim()
    if (!lane) throw new Error('nothing claimed')
    const dependencies = {
      ...bench.dependencies,
      lanes: {
        ...lanes,
        settle: (...parameters: Parameters<typeof lanes.settle>) => {
          failures += 1
          return failures <= 3 ? Promise.reject(new Error('away')) : lanes.settle(...parameters)
        },
      },
    }
    await deliver(dependencies, lane, bench.clock.monotonic(), new AbortController().signal)
    expect(bench.endpoint.requests).toHaveLength(1)
    expect(await bench.pending()).toEqual([])
  })
})
