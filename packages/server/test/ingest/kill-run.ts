import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { startMillrace, type RunningMillrace } from '../cli/run-millrace.ts'

export interface KillRunOptions {
  readonly kills: number
  /** From 0 to below 1: which kill comes next, and after how many batches. */
  readonly random: () => number
  readonly progress?: (text: string) => void
  /** Ends the sending sooner. */
  readonly signal?: AbortSignal
}

/** What became of the batches. Every list is empty where all promises were kept. */
export interface KillReport {
  readonly kills: { readonly service: number; readonly engine: number }
  readonly sent: number
  readonly acknowledged: number
  /** Acknowledged batches that are not there exactly once. */
  readonly lost: readonly string[]
  /** Others that are there in part. */
  readonly torn: readonly string[]
  /** Answers that no sender can do anything with. */
  readonly unexpected: readonly string[]
}

const BATCHES_PER_KILL = 15
const SENDERS = 5
const ROWS = 40
const LARGE_BYTES = 200_000
const KEY = 'a-key-for-the-kill-test-0123456789'

/** Sends batches while the service and its engine are killed, restarts them, and holds what is stored against what was acknowledged (IN-2). Linux only. */
export async function runKills({
  kills,
  random,
  progress = () => undefined,
  signal,
}: KillRunOptions): Promise<KillReport> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-kill-'))
  let service = await start(directory)
  const count = { service: 0, engine: 0 }
  const total = kills * BATCHES_PER_KILL
  const acknowledged = new Set<number>()
  const unexpected: string[] = []
  /** Every kill falls somewhere in a stretch of batches of its own. */
  const killsAt = new Set(
    Array.from({ length: kills }, (_, kill) => Math.floor((kill + random()) * BATCHES_PER_KILL)),
  )
  let next = 0
  let restarting: Promise<void> = Promise.resolve()

  async function kill(takesService: boolean): Promise<void> {
    if (takesService) {
      count.service++
      service.millrace.process.kill('SIGKILL')
      await service.millrace.finished
      service = await start(directory)
    } else {
      const children = await childrenOf(service.millrace.process.pid)
      for (const child of children) process.kill(child, 'SIGKILL')
      count.engine += children.length
    }
    progress(`${count.service + count.engine} kills, ${acknowledged.size} batches acknowledged`)
  }

  /** Sends a batch until it is acknowledged; every seventh is given up at its first failure. */
  async function send(n: number): Promise<void> {
    for (;;) {
      await restarting
      const answer = await post(service.url, '/ingest/kill/test/batch', batchOf(n)).catch(() => null)
      if (answer?.status === 200) {
        acknowledged.add(n)
        return
      }
      if (answer && ![429, 503].includes(answer.status))
        unexpected.push(`batch ${n}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`)
      if (n % 7 === 0) return
    }
  }

  const isOver = () => next >= total || unexpected.length >= 10 || signal?.aborted

  async function sender(): Promise<void> {
    while (!isOver()) {
      const n = next
      next++
      // While the others are at theirs.
      if (killsAt.has(n)) {
        const takesService = random() < 2 / 3
        restarting = restarting.then(() => kill(takesService))
      }
      await send(n)
    }
  }

  try {
    await post(service.url, '/projects', { owner: 'kill', name: 'test' })
    await Promise.all(Array.from({ length: SENDERS }, sender))
    await restarting
    await kill(true)
    const counts = await countsByBatch(service.url)
    const isWhole = (n: number) => counts.get(n)?.every((rows, i) => rows === rowsOf(n)[i]) ?? false
    const all = Array.from({ length: total }, (_, n) => n)
    const describe = (n: number) =>
      `batch ${n}: ${counts.get(n)?.join(', ') ?? 'nothing'} of ${rowsOf(n).join(', ')} rows`
    return {
      kills: count,
      sent: next,
      acknowledged: acknowledged.size,
      lost: all.filter((n) => acknowledged.has(n) && !isWhole(n)).map(describe),
      torn: all.filter((n) => !acknowledged.has(n) && counts.has(n) && !isWhole(n)).map(describe),
      unexpected,
    }
  } finally {
    service.millrace.process.kill('SIGKILL')
    await service.millrace.finished
    await rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 })
  }
}

async function start(
  directory: string,
): Promise<{ readonly millrace: RunningMillrace; readonly url: string }> {
  const millrace = startMillrace(['serve'], {
    MILLRACE_PORT: '0',
    MILLRACE_DATA_DIR: directory,
    MILLRACE_ADMIN_KEY: KEY,
    MILLRACE_ENGINE_SESSIONS: '3',
  })
  const output = await millrace.outputWith(/listens on http:\S+/)
  return { millrace, url: /listens on (http:\S+)/.exec(output)?.[1] ?? '' }
}

async function childrenOf(pid: number | undefined): Promise<readonly number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children
    .trim()
    .split(' ')
    .filter((child) => child !== '')
    .map(Number)
}

async function post(url: string, path: string, body: object): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: await answer.json() }
}

/** The rows of a batch: samples, events, entity changes. Most have no entities, so that they may be answered before they are stored. */
function rowsOf(n: number): readonly number[] {
  return [ROWS, ROWS, n % 5 < 2 ? ROWS : 0]
}

/** A batch whose rows go to two tables or four, one of them in two months. Every fifth is large, which the others go past. */
function batchOf(n: number): object {
  const pad = n % 5 === 0 ? { pad: '\u00e4'.repeat(LARGE_BYTES / ROWS / 2) } : {}
  const hasEntities = rowsOf(n)[2] !== 0
  const records = Array.from({ length: ROWS }, (_, i) => {
    const place = {
      chain: '1',
      blockNumber: n,
      logIndex: i,
      timestampMicros: Date.UTC(2026, i % 2, 1 + (n % 20)) * 1000,
    }
    return [
      { type: 'counter', name: 'c', value: 1, labels: { n: String(n % 7) }, ...place },
      { type: 'event', name: 'E', attributes: { n, ...pad }, ...place },
      ...(hasEntities ? [{ type: 'upsert', name: 'T', id: `${n}-${i}`, attributes: { n }, ...place }] : []),
    ]
  }).flat()
  return { batchId: `batch-${n}`, records }
}

/** The rows of each batch: samples, events, entity changes. */
async function countsByBatch(url: string): Promise<ReadonlyMap<number, readonly number[]>> {
  const sql = `select n, sum(c) as c, sum(e) as e, sum(t) as t from (
    select block_number as n, 1 as c, 0 as e, 0 as t from c
    union all select block_number, 0, 1, 0 from E
    union all select __block_number, 0, 0, 1 from T_history
  ) group by n`
  const { body } = await post(url, '/analytics/kill/test/sql/execute', {
    sqlQuery: { sql, size: 100_000 },
    cachePolicy: { noCache: true },
  })
  const { rows } = (body as { result: { rows: { n: number; c: number; e: number; t: number }[] } }).result
  return new Map(rows.map(({ n, c, e, t }) => [n, [c, e, t]]))
}
