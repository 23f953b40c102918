import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startMillrace, type RunningMillrace } from '../cli/run-millrace.ts'
import { startReceiver, type Receiver } from '../support/receiver.ts'

const KILLS = 3
const BATCHES_PER_KILL = 12
const MESSAGES = 20
const CHANNELS = ['one', 'two']
const KEY = 'a-key-for-the-kill-test-0123456789'
const isMeasurable = process.platform === 'linux'

let directory: string
let service: RunningMillrace
let url: string
let receiver: Receiver

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-delivery-kill-'))
  receiver = await startReceiver()
  await start()
  await post('/projects', { owner: 'kill', name: 'test' })
  for (const name of CHANNELS) await post('/webhook/channels/kill/test', { name, url: receiver.url })
}, 60_000)

afterAll(async () => {
  service.process.kill('SIGKILL')
  await service.finished
  await receiver.close()
  await rm(directory, { recursive: true, force: true })
}, 60_000)

async function start(): Promise<void> {
  service = startMillrace(['serve'], {
    MILLRACE_PORT: '0',
    MILLRACE_DATA_DIR: directory,
    MILLRACE_ADMIN_KEY: KEY,
    MILLRACE_WEBHOOK_ALLOWED_CIDRS: '127.0.0.1/32',
  })
  const output = await service.outputWith(/listens on http:\S+/)
  url = /listens on (http:\S+)/.exec(output)?.[1] ?? ''
}

async function post(path: string, body: object): Promise<number> {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await answer.arrayBuffer()
  return answer.status
}

/** Every third kill is of the engine alone, which the service starts again; the others take the service with it. */
async function kill(count: number): Promise<void> {
  const { pid } = service.process
  if (count % 3 === 2) {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
    for (const child of children.trim().split(' ')) if (child !== '') process.kill(Number(child), 'SIGKILL')
    return
  }
  service.process.kill('SIGKILL')
  await service.finished
  await start()
}

/** Block `n` in its `revision`: the exports of both channels, and a fact, so that the engine takes part. */
function batchOf(n: number, revision: number): object {
  const place = { chain: '1', blockNumber: n, timestampMicros: n * 1_000_000 }
  const exports = CHANNELS.flatMap((channel) =>
    Array.from({ length: MESSAGES }, (_, index) => ({
      type: 'export',
      name: 'e',
      channel,
      data: { key: `${channel}/${n}/${index}`, revision },
      ...place,
    })),
  )
  return {
    batchId: `batch-${n}-${revision}`,
    records: [...exports, { type: 'counter', name: 'c', value: 1, ...place }],
  }
}

interface Message {
  readonly event_id: number
  readonly data: { readonly key: string; readonly revision: number }
}

/** What a receiver ends with that keeps the last message of each event id, and what came after a newer one. */
function endState(): { readonly kept: ReadonlyMap<string, number>; readonly stale: readonly string[] } {
  const byId = new Map<string, Message['data']>()
  const stale: string[] = []
  for (const { text } of receiver.calls) {
    for (const { event_id, data } of JSON.parse(text) as Message[]) {
      const id = `${data.key.split('/')[0]}#${event_id}`
      const before = byId.get(id)
      if (before && (before.key !== data.key || before.revision > data.revision)) stale.push(data.key)
      byId.set(id, data)
    }
  }
  return { kept: new Map([...byId.values()].map(({ key, revision }) => [key, revision])), stale }
}

it.runIf(isMeasurable)(
  'delivers every accepted export and overrides what a rollback undid, however often service and engine are killed (DL-6, DL-8, EV-1, IN-3)',
  async () => {
    const total = KILLS * BATCHES_PER_KILL
    let killing: Promise<void> = Promise.resolve()

    async function untilAccepted(path: string, body: object): Promise<void> {
      for (;;) {
        const status = await post(path, body).catch(() => null)
        if (status === 200) return
        if (status !== null) expect([429, 503]).toContain(status)
        await killing
      }
    }

    const wanted = new Map<string, number>()
    async function send(n: number, revision: number): Promise<void> {
      await untilAccepted('/ingest/kill/test/batch', batchOf(n, revision))
      for (const channel of CHANNELS) {
        for (let index = 0; index < MESSAGES; index += 1) wanted.set(`${channel}/${n}/${index}`, revision)
      }
    }

    for (let n = 1; n <= total; n += 1) {
      // While the next ones are sent.
      if (n % BATCHES_PER_KILL === 6) {
        const count = Math.ceil(n / BATCHES_PER_KILL)
        killing = killing.then(() => kill(count))
      }
      await send(n, 1)
      if (n % 10 === 0) {
        await untilAccepted('/ingest/kill/test/rollback', { chain: '1', block_number: n - 3 })
        for (let again = n - 2; again <= n; again += 1) await send(again, 2)
      }
    }
    await killing
    await expect.poll(() => endState().kept, { timeout: 60_000 }).toEqual(wanted)
    expect(endState().stale).toEqual([])
  },
  60_000 + KILLS * 30_000,
)
