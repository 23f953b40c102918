import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createChannelStore } from '../../src/database/channel-store.ts'
import { enqueueExports } from '../../src/database/outbox.ts'
import { DEFAULT_LIMITS } from '../../src/delivery/channel.ts'
import { controlDatabases, type TestDatabase } from '../support/databases.ts'
import { exported, PROJECT_ID, type Received } from './bench.ts'
import { startKillable, type KillableProcess } from './chaos/killable-process.ts'

const postgres = controlDatabases.filter(({ name }) => name === 'postgres')
const CHANNELS = ['one', 'two', 'three']
/** Short, so that the leases of a frozen worker end soon. */
const HASTY = { leaseMs: 2000, timeoutMs: 900 }
/** As in service: a request that takes no longer than a busy machine makes it take is not repeated. */
const PATIENT = { leaseMs: 15_000, timeoutMs: 5000 }
const PATIENCE = { timeout: 60_000, interval: 50 }

describe.each(postgres)('two workers of one database, on $name', ({ open }) => {
  let database: TestDatabase
  let receiver: Server
  let workers: readonly KillableProcess[] = []
  /** Ids in order of arrival, by channel. */
  let arrived: Map<string, number[]>
  let answerMs: number
  let sent: number

  beforeEach(async () => {
    database = await open()
    arrived = new Map(CHANNELS.map((name) => [name, []]))
    answerMs = 5
    sent = 0
    receiver = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const messages = JSON.parse(Buffer.concat(parts).toString()) as Received[]
        arrived.get((request.url ?? '/').slice(1))?.push(...messages.map(({ data }) => data as number))
        setTimeout(() => response.writeHead(204).end(), answerMs)
      })
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const { port } = receiver.address() as AddressInfo
    const channels = createChannelStore(database.db)
    for (const name of CHANNELS) {
      const limits = { ...DEFAULT_LIMITS, maxBatchMessages: 10, backoff: { initialMs: 20, capMs: 200 } }
      const change = { url: `http://127.0.0.1:${port}/${name}`, secret: 'whsec_AAAA', limits }
      await channels.create(PROJECT_ID, name, change, Date.now())
    }
  })
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.end()))
    receiver.closeAllConnections()
    await new Promise((resolve) => receiver.close(resolve))
    await database.close()
  })

  async function startWorkers({ leaseMs, timeoutMs }: typeof HASTY): Promise<void> {
    workers = [1, 2].map(() =>
      startKillable('worker-process.ts', [database.location, String(leaseMs), String(timeoutMs)]),
    )
    await Promise.all(workers.map((worker) => worker.current()))
  }

  async function send(count: number): Promise<void> {
    for (const channel of CHANNELS) {
      const messages = Array.from({ length: count }, (_, index) =>
        exported(sent + index, { channel, blockNumber: sent + index, position: 0 }),
      )
      await database.db
        .transaction()
        .execute((tx) =>
          enqueueExports(tx, { projectId: PROJECT_ID, version: 1 }, { messages, heads: [] }, Date.now()),
        )
    }
    sent += count
  }

  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

  it('lose and double nothing when one after the other is restarted under load (DL-6)', async () => {
    await startWorkers(PATIENT)
    const over = new AbortController()
    const sending = (async () => {
      while (!over.signal.aborted) {
        await send(20)
        await pause(20)
      }
    })()
    for (const worker of [...workers, ...workers]) await worker.restart('SIGTERM')
    over.abort()
    await sending
    for (const name of CHANNELS) {
      await vi.waitFor(() => expect(arrived.get(name)).toHaveLength(sent), PATIENCE)
    }
    for (const name of CHANNELS) expect(arrived.get(name)).toEqual(numbers(sent))
  }, 180_000)

  it('do not send beside each other when one is frozen until its leases have ended, and thaws (DL-6)', async () => {
    await startWorkers(HASTY)
    const [frozen, other] = await Promise.all(workers.map((worker) => worker.current()))
    // Long enough that both are in the middle of something.
    answerMs = 300
    await send(50)
    await vi.waitFor(() => expect([...arrived.values()].flat().length).toBeGreaterThan(20), PATIENCE)
    frozen?.kill('SIGSTOP')
    try {
      // The other one takes over and ends the work.
      await vi.waitFor(() => {
        for (const name of CHANNELS) expect(new Set(arrived.get(name)).size).toBe(50)
      }, PATIENCE)
    } finally {
      frozen?.kill('SIGCONT')
    }
    answerMs = 5
    await send(50)
    await vi.waitFor(() => {
      for (const name of CHANNELS) expect(new Set(arrived.get(name)).size).toBe(100)
    }, PATIENCE)
    expect(other?.exitCode).toBeNull()
    for (const name of CHANNELS) {
      const list = arrived.get(name) ?? []
      // What was under way may have come twice, at most one request of each channel; the order of first arrival holds.
      expect(list.length).toBeLessThanOrEqual(110)
      expect([...new Set(list)]).toEqual(numbers(100))
      expect(list.slice(-50)).toEqual(numbers(100).slice(50))
    }
  }, 180_000)
})
