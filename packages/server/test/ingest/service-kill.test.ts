import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startMillrace, type RunningMillrace } from '../cli/run-millrace.ts'

/** More in a soak run: `MILLRACE_TEST_KILLS=100`. */
const KILLS = Number(process.env['MILLRACE_TEST_KILLS'] ?? 3)
const BATCHES_PER_KILL = 15
const SENDERS = 5
const ROWS = 40
const KEY = 'a-key-for-the-kill-test-0123456789'
const isMeasurable = process.platform === 'linux'

let directory: string
let service: RunningMillrace
let url: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-kill-'))
  await start()
  await post('/projects', { owner: 'kill', name: 'test' })
}, 60_000)

afterAll(async () => {
  service.process.kill('SIGKILL')
  await service.finished
  await rm(directory, { recursive: true, force: true })
}, 60_000)

async function start(): Promise<void> {
  service = startMillrace(['serve'], {
    MILLRACE_PORT: '0',
    MILLRACE_DATA_DIR: directory,
    MILLRACE_ADMIN_KEY: KEY,
    MILLRACE_ENGINE_SESSIONS: '3',
  })
  const output = await service.outputWith(/listens on http:\S+/)
  url = /listens on (http:\S+)/.exec(output)?.[1] ?? ''
}

async function post(path: string, body: object): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: await answer.json() }
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

/** A batch whose rows go to four tables, one of them in two months. */
function batchOf(n: number): object {
  const records = Array.from({ length: ROWS }, (_, i) => {
    const place = {
      chain: '1',
      blockNumber: n,
      logIndex: i,
      timestampMicros: Date.UTC(2026, i % 2, 1 + (n % 20)) * 1000,
    }
    return [
      { type: 'counter', name: 'c', value: 1, labels: { n: String(n % 7) }, ...place },
      { type: 'event', name: 'E', attributes: { n }, ...place },
      { type: 'upsert', name: 'T', id: `${n}-${i}`, attributes: { n }, ...place },
    ]
  }).flat()
  return { batchId: `batch-${n}`, records }
}

async function countsByBatch(): Promise<ReadonlyMap<number, readonly number[]>> {
  const sql = `select n, sum(c) as c, sum(e) as e, sum(t) as t from (
    select block_number as n, 1 as c, 0 as e, 0 as t from c
    union all select block_number, 0, 1, 0 from E
    union all select __block_number, 0, 0, 1 from T_history
  ) group by n`
  const { body } = await post('/analytics/kill/test/sql/execute', {
    sqlQuery: { sql, size: 100_000 },
    cachePolicy: { noCache: true },
  })
  const { rows } = (body as { result: { rows: { n: number; c: number; e: number; t: number }[] } }).result
  return new Map(rows.map(({ n, c, e, t }) => [n, [c, e, t]]))
}

it.runIf(isMeasurable)(
  'has every acknowledged batch exactly once and no other in part, however often service and engine are killed (IN-2)',
  async () => {
    const total = KILLS * BATCHES_PER_KILL
    const acknowledged = new Set<number>()
    let next = 0
    let kills = 0
    let restarting: Promise<void> = Promise.resolve()

    /** Sends a batch until it is acknowledged; every seventh is given up at its first failure. */
    async function send(n: number): Promise<void> {
      for (;;) {
        await restarting
        const answer = await post('/ingest/kill/test/batch', batchOf(n)).catch(() => null)
        if (answer?.status === 200) {
          acknowledged.add(n)
          return
        }
        if (answer) expect([429, 503]).toContain(answer.status)
        if (n % 7 === 0) return
      }
    }

    async function sender(): Promise<void> {
      while (next < total) {
        const n = next
        next++
        // While the others are at theirs.
        if (n > 0 && n % BATCHES_PER_KILL === 0) {
          const before = restarting
          kills++
          const count = kills
          restarting = before.then(() => kill(count))
        }
        await send(n)
      }
    }

    await Promise.all(Array.from({ length: SENDERS }, sender))
    await kill(0)
    const counts = await countsByBatch()
    const whole = [ROWS, ROWS, ROWS]
    for (let n = 0; n < total; n++) {
      const found = counts.get(n)
      if (acknowledged.has(n) || found !== undefined) expect({ n, found }).toEqual({ n, found: whole })
    }
    expect(acknowledged.size).toBeGreaterThan(total / 2)
  },
  60_000 + KILLS * 30_000,
)
