import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLaneStore } from '../../src/database/lane-store.ts'
import { DEFAULT_LIMITS, type ChannelLimits } from '../../src/delivery/channel.ts'
import type { LaneStore } from '../../src/delivery/lane.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { createDeliveryWorker } from '../../src/processes/delivery-worker.ts'
import { createAddressGuard } from '../../src/webhooks/address-guard.ts'
import { createWebhookEndpoint } from '../../src/webhooks/endpoint.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { createBench, exported, PROJECT_ID, type Bench, type Received } from './bench.ts'

const WORKER = fileURLToPath(new URL('chaos/worker-process.ts', import.meta.url))

describe.each(controlDatabases)('a delivery worker on $name', ({ open }) => {
  let database: TestDatabase
  let bench: Bench
  const closing: (() => unknown)[] = []

  beforeEach(async () => {
    database = await open()
    bench = createBench(database)
  })
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close()
    await database.close()
  })

  /** A receiver on loopback that acknowledges unless `hold` says that it should never answer. */
  async function startReceiver(hold: (count: number, response: ServerResponse) => boolean = () => false) {
    const received: Received[] = []
    let count = 0
    let heard = () => {}
    const server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        received.push(...(JSON.parse(Buffer.concat(parts).toString()) as Received[]))
        count += 1
        if (!hold(count, response)) response.end()
        heard()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closing.push(() => {
      server.closeAllConnections()
      server.close()
    })
    return {
      received,
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      /** Resolves when at least `n` messages have arrived. */
      async arrived(n: number): Promise<void> {
        while (received.length < n) {
          await new Promise<void>((resolve) => {
            heard = resolve
          })
        }
      },
    }
  }

  function startWorker({
    concurrency = 16,
    hostConcurrency = concurrency,
    timeoutMs = 5000,
    lanes = createLaneStore(database.db),
  }: { concurrency?: number; hostConcurrency?: number; timeoutMs?: number; lanes?: LaneStore } = {}) {
    const endpoint = createWebhookEndpoint(createAddressGuard({ allowedCidrs: ['127.0.0.0/8'] }), systemClock)
    const worker = createDeliveryWorker(
      {
        lanes,
        endpoint,
        clock: { ...systemClock, now: () => bench.clock.now() },
        random: () => 0,
        sleep: (ms) => setTimeout(ms),
        leaseMs: 15_000,
        timeoutMs,
      },
      { owner: 'in process', concurrency, hostConcurrency, isSole: false, log: silentLogger },
    )
    closing.push(async () => {
      await worker.stop()
      await endpoint.close()
    })
    return worker
  }

  async function configure(name: string, url: string, limits: Partial<ChannelLimits> = {}): Promise<void> {
    const change = { url, secret: 'whsec_AAAA', limits: { ...DEFAULT_LIMITS, ...limits } }
    await bench.channels.create(PROJECT_ID, name, change, bench.clock.now())
  }

  it('delivers what was enqueued as soon as it is woken (DL-7)', async () => {
    const receiver = await startReceiver()
    await configure('alerts', receiver.url)
    const worker = startWorker()
    await bench.enqueue(...Array.from({ length: 250 }, (_, n) => exported(n)))
    worker.wake()
    await worker.idle()
    expect(receiver.received.map((message) => message.data)).toEqual(Array.from({ length: 250 }, (_, n) => n))
    expect(await bench.pending()).toEqual([])
  })

  it('looks only at the lanes that it is woken for, and at one again that was served meanwhile (DL-7)', async () => {
    let held: ServerResponse | undefined
    const receiver = await startReceiver((_, response) => {
      held ??= response
      return held === response
    })
    const quiet = await startReceiver()
    await configure('alerts', receiver.url)
    await configure('quiet', quiet.url)
    const laneId = (await bench.channels.find(PROJECT_ID, 'alerts'))?.id ?? 0
    const lanes = createLaneStore(database.db)
    let claims = 0
    const worker = startWorker({
      lanes: {
        ...lanes,
        claim(request) {
          claims += 1
          return lanes.claim(request)
        },
      },
    })
    await bench.enqueue(exported(1), exported(9, { channel: 'quiet' }))
    worker.wake([laneId])
    await receiver.arrived(1)
    await bench.enqueue(exported(2))
    worker.wake([laneId])
    await new Promise(setImmediate)
    held?.end()
    await worker.idle()
    expect(receiver.received.map((message) => message.data)).toEqual([1, 2])
    expect(quiet.received).toEqual([])
    // The settlement of the first message has seen the second.
    expect(claims).toBe(1)
    worker.wake()
    await worker.idle()
    expect(quiet.received.map((message) => message.data)).toEqual([9])
  })

  it('misses nothing that is enqueued between the last settlement of a lane and its end (DL-7)', async () => {
    const receiver = await startReceiver()
    await configure('alerts', receiver.url)
    const laneId = (await bench.channels.find(PROJECT_ID, 'alerts'))?.id ?? 0
    const lanes = createLaneStore(database.db)
    let settled = 0
    const worker = startWorker({
      lanes: {
        ...lanes,
        async settle(claim, settlement) {
          const left = await lanes.settle(claim, settlement)
          settled += 1
          if (settled === 1) {
            await bench.enqueue(exported(2))
            worker.wake([laneId])
          }
          return left
        },
      },
    })
    await bench.enqueue(exported(1))
    worker.wake([laneId])
    await worker.idle()
    expect(receiver.received.map((message) => message.data)).toEqual([1, 2])
  })

  it('serves all channels of a busy host, whichever of them it was woken for (DL-9)', async () => {
    const receiver = await startReceiver()
    const worker = startWorker({ concurrency: 4 })
    for (let n = 0; n < 20; n += 1) {
      await configure(`channel ${n}`, receiver.url)
      await bench.enqueue(exported(n, { channel: `channel ${n}` }))
    }
    const laneId = (await bench.channels.find(PROJECT_ID, 'channel 19'))?.id ?? 0
    worker.wake()
    for (let n = 0; n < 20; n += 1) {
      worker.wake([laneId])
      await new Promise(setImmediate)
    }
    await worker.idle()
    expect(receiver.received).toHaveLength(20)
  })

  it('gives a channel with several requests at once half of its places beside the first, and others the rest (DL-9)', async () => {
    const open: ServerResponse[] = []
    const receiver = await startReceiver((_, response) => open.push(response) > 0)
    const other = await startReceiver()
    await configure('wide', receiver.url, { requestsAtOnce: 16, maxBatchMessages: 1 })
    await configure('other', other.url)
    const worker = startWorker({ concurrency: 6 })
    await bench.enqueue(...Array.from({ length: 10 }, (_, n) => exported(n, { channel: 'wide' })))
    worker.wake()
    await receiver.arrived(4)
    await bench.enqueue(exported('"other"', { channel: 'other' }))
    worker.wake()
    await other.arrived(1)
    expect(receiver.received).toHaveLength(4)
    for (let n = 0; n < 10; n += 1) {
      await receiver.arrived(n + 1)
      open[n]?.end()
    }
    await worker.idle()
    expect(receiver.received.map((message) => Number(message.data)).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 10 }, (_, n) => n),
    )
    expect(await bench.pending()).toEqual([])
  })

  it('has no more requests to a host under way than it may, beside first ones or not (DL-9)', async () => {
    const open: ServerResponse[] = []
    const receiver = await startReceiver((_, response) => open.push(response) > 0)
    await configure('wide', receiver.url, { requestsAtOnce: 16, maxBatchMessages: 1 })
    const worker = startWorker({ concurrency: 16, hostConcurrency: 3 })
    await bench.enqueue(...Array.from({ length: 5 }, (_, n) => exported(n, { channel: 'wide' })))
    worker.wake()
    for (let n = 0; n < 5; n += 1) {
      await receiver.arrived(Math.min(5, n + 3))
      expect(open.length - n).toBeLessThanOrEqual(3)
      open[n]?.end()
    }
    await worker.idle()
    expect(await bench.pending()).toEqual([])
  })

  it('serves more channels than it has places, each in order (DL-9)', async () => {
    const receiver = await startReceiver()
    const worker = startWorker({ concurrency: 2 })
    for (let n = 0; n < 12; n += 1) {
      await configure(`channel ${n}`, receiver.url)
      await bench.enqueue(exported(n, { channel: `channel ${n}` }), exported(-n, { channel: `channel ${n}` }))
    }
    worker.wake()
    await worker.idle()
    expect(receiver.received).toHaveLength(24)
    expect(await bench.pending()).toEqual([])
  })

  it('looks at all channels once and then claims no more than it has places, however many wait (DL-9)', async () => {
    const receiver = await startReceiver()
    const store = createLaneStore(database.db)
    let looks = 0
    const claimed: number[] = []
    const worker = startWorker({
      concurrency: 3,
      hostConcurrency: 100,
      lanes: {
        ...store,
        ready(nowMs, limit) {
          looks += 1
          return store.ready(nowMs, limit)
        },
        claim(request) {
          claimed.push(request.among?.length ?? Infinity)
          return store.claim(request)
        },
      },
    })
    for (let n = 0; n < 15; n += 1) {
      await configure(`channel ${n}`, receiver.url)
      await bench.enqueue(exported(n, { channel: `channel ${n}` }))
    }
    worker.wake()
    await worker.idle()
    expect(receiver.received).toHaveLength(15)
    expect(looks).toBe(1)
    expect(Math.max(...claimed)).toBeLessThanOrEqual(3)
  })

  it('delivers to the others while one endpoint hangs (DL-9)', async () => {
    const hanging = await startReceiver(() => true)
    const healthy = await startReceiver()
    await configure('hanging', hanging.url)
    await configure('healthy', healthy.url)
    await bench.enqueue(exported(1, { channel: 'hanging' }), exported(2, { channel: 'healthy' }))
    const worker = startWorker({ timeoutMs: 500 })
    worker.wake()
    await Promise.all([hanging.arrived(1), healthy.arrived(1)])
    expect(healthy.received.map((message) => message.data)).toEqual([2])
  })

  it('ends running attempts when it stops, so the next worker doubles nothing (DL-6)', async () => {
    const receiver = await startReceiver()
    await configure('alerts', receiver.url)
    await bench.enqueue(...Array.from({ length: 5000 }, (_, n) => exported(n, { blockNumber: n })))
    const first = startWorker()
    first.wake()
    await receiver.arrived(100)
    await first.stop()
    const second = startWorker()
    second.wake()
    await second.idle()
    expect(receiver.received.map((message) => message.data)).toEqual(
      Array.from({ length: 5000 }, (_, n) => n),
    )
  })

  it('loses nothing when it is killed in the middle of a request: the next one sends it again (DL-6)', async () => {
    const receiver = await startReceiver((count) => count === 2)
    await configure('alerts', receiver.url)
    await bench.enqueue(...Array.from({ length: 300 }, (_, n) => exported(n)))
    const child: ChildProcess = spawn(process.execPath, [WORKER, database.location], { stdio: 'inherit' })
    closing.push(() => child.kill('SIGKILL'))
    await receiver.arrived(200)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const worker = startWorker()
    bench.clock.advance(Date.now() - bench.clock.now())
    worker.wake()
    await worker.idle()
    expect(receiver.received, 'its lease holds').toHaveLength(200)
    bench.clock.advance(20_000)
    worker.wake()
    await worker.idle()
    const all = receiver.received.map((message) => message.data)
    expect(new Set(all).size).toBe(300)
    expect(all).toHaveLength(400)
    expect(await bench.pending()).toEqual([])
  })
})
