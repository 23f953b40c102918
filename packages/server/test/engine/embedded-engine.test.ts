import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createFactEngine } from '../../src/clickhouse/create-fact-engine.ts'
import type { FactEngine } from '../../src/clickhouse/fact-engine.ts'
import { startEmbeddedEngine, type EmbeddedEngine } from '../../src/embedded/start-embedded-engine.ts'
import type { ServiceError } from '../../src/platform/errors.ts'
import { failure } from '../support/failure.ts'

const logger = pino({ level: 'silent' })
const endings: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end()
})

async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'millrace-embedded-'))
  endings.push(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function start(directory: string): Promise<{ embedded: EmbeddedEngine; engine: FactEngine }> {
  const embedded = await startEmbeddedEngine({ directory, logger, poolSize: 2 })
  const engine = createFactEngine((waitMs) => embedded.address(waitMs), { waitMs: 20_000 })
  endings.push(async () => {
    await engine.close()
    await embedded.stop()
  })
  return { embedded, engine }
}

function kill(embedded: EmbeddedEngine): void {
  if (embedded.pid !== undefined) process.kill(embedded.pid, 'SIGKILL')
}

it('survives kill -9 while queries run: callers get a retried answer or 503, and the data is there', async () => {
  const { embedded, engine } = await start(await freshDirectory())
  await engine.command('create table kept (id UInt64) engine = MergeTree order by id')
  for (let n = 0; n < 20; n++) {
    const rows = Buffer.from(JSON.stringify({ id: n }))
    await engine.insert({ database: 'default', table: 'kept', format: 'JSONEachRow', rows })
  }
  const queries = Array.from({ length: 6 }, (_, n) =>
    engine.rows<{ n: number }>(`select ${n} as n, sum(sipHash64(number)) from numbers(10000000)`).then(
      ([row]) => row?.n,
      (error: ServiceError) => error.code,
    ),
  )
  const firstPid = embedded.pid
  const stream = await engine.stream('select number from numbers(1000000000)', 'TSV')
  const streamed = failure(
    (async () => {
      for await (const _chunk of stream) if (embedded.pid === firstPid) kill(embedded)
    })(),
  )
  expect((await streamed).code).toBe('unavailable')
  for (const [n, outcome] of (await Promise.all(queries)).entries())
    expect([n, 'unavailable']).toContain(outcome)
  // Connections end before the process is known to be gone.
  while (embedded.pid === firstPid) await new Promise((resolve) => setImmediate(resolve))
  expect(await engine.rows('select count() as n, sum(id) as s from kept')).toEqual([{ n: '20', s: '190' }])
  expect(embedded.state).toBe('ready')
})

it('refuses with 503 and a time to retry while the engine is down', async () => {
  const { embedded } = await start(await freshDirectory())
  const impatient = createFactEngine((waitMs) => embedded.address(waitMs), { waitMs: 1 })
  await impatient.ping()
  kill(embedded)
  while (embedded.state === 'ready') await new Promise((resolve) => setImmediate(resolve))
  const error = await failure(impatient.rows('select 1'))
  expect(error.code).toBe('unavailable')
  expect(error.retryAfterSeconds).toBeGreaterThanOrEqual(1)
  await impatient.close()
})

it('finds its data again after an orderly stop', async () => {
  const directory = await freshDirectory()
  const first = await start(directory)
  await first.engine.command('create table kept (id UInt64) engine = MergeTree order by id')
  await first.engine.command('insert into kept select number from numbers(1000)')
  await first.embedded.stop()
  expect((await failure(first.embedded.address(1))).code).toBe('unavailable')
  const second = await start(directory)
  expect(await second.engine.rows('select count() as n from kept')).toEqual([{ n: '1000' }])
})

it('lets a running statement end before it stops', async () => {
  const { embedded, engine } = await start(await freshDirectory())
  const query = engine.rows<{ n: string }>(
    'select count() as n from numbers(30000000) where sipHash64(number) % 2 = 3',
  )
  // The statement is on its way as soon as another, sent after it, is answered.
  await engine.rows('select 1')
  await embedded.stop()
  expect(await query).toEqual([{ n: '0' }])
})

it('leaves the directory to the next one when the service is killed while it writes', async () => {
  const directory = await freshDirectory()
  const service = fork(join(import.meta.dirname, 'service-to-kill.ts'), [directory])
  await once(service, 'message')
  service.kill('SIGKILL')
  const { engine } = await start(directory)
  expect(await engine.rows('select id from kept')).toEqual([{ id: '7' }])
})

it('tells two engines on one directory apart: the second does not start, and says why', async () => {
  const directory = await freshDirectory()
  await start(directory)
  await expect(startEmbeddedEngine({ directory, logger, poolSize: 1 })).rejects.toThrow(
    `did not start in ${directory}: Failed to create connection`,
  )
})

describe('the process of an engine', () => {
  let shared: { embedded: EmbeddedEngine; engine: FactEngine }
  const own: (() => Promise<void>)[] = []

  beforeAll(async () => {
    process.env['MILLRACE_TEST_SECRET'] = 'do-not-tell'
    shared = await start(await freshDirectory())
    // What it needs lives as long as these tests.
    own.push(...endings.splice(0))
  })

  afterAll(async () => {
    delete process.env['MILLRACE_TEST_SECRET']
    for (const end of own.toReversed()) await end()
  })

  it('lets nobody in without the password', async () => {
    const address = await shared.embedded.address(1000)
    const stranger = createFactEngine({ ...address, password: 'guess' })
    await failure(stranger.rows('select 1'))
    await stranger.close()
  })

  it('has no network, so that whatever gets past every check finds nobody (SQ-2)', async () => {
    const namespaceOf = (pid: number | 'self') => readlink(`/proc/${pid}/ns/net`)
    const listener = createServer().listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const { port } = listener.address() as AddressInfo
    const attempts: unknown[] = []
    listener.on('connection', (socket) => attempts.push(socket.destroy()))
    await failure(
      shared.engine.rows(`select * from url('http://127.0.0.1:${port}/', LineAsString, 'x String')`, {
        settings: { http_max_tries: 1 },
      }),
    )
    listener.close()
    const { socketPath } = await shared.embedded.address(1000)
    const isAlone = (await namespaceOf(shared.embedded.pid ?? 0)) !== (await namespaceOf('self'))
    // Where the system allows no namespaces, the engine says so in the log and answers on loopback.
    expect([isAlone, attempts.length === 0]).toEqual([socketPath !== undefined, socketPath !== undefined])
    if (process.getuid?.() === 0) expect(socketPath).toBeDefined()
  })

  it('has nothing of the environment of the service (SQ-2)', async () => {
    const [row] = await shared.engine.rows<{ environment: string }>(
      `select * from file('/proc/self/environ', 'RawBLOB', 'environment String')`,
    )
    expect(row?.environment).not.toContain('do-not-tell')
  })

  it('lets inserts and answers go before its merges', async () => {
    await shared.engine.command('create table merged (id UInt64) engine = MergeTree order by id')
    const threads = `/proc/${shared.embedded.pid ?? 0}/task`
    const nicenessOf = async (thread: string) => {
      const [name = '', rest = ''] = (
        await readFile(`${threads}/${thread}/stat`, 'utf8').catch(() => 'ended')
      ).split(') ')
      // Behind the name stand the 3rd field of the manual and those after it; the 19th is the niceness.
      return [name.replace(/^.*\(/, ''), Number(rest.split(' ')[16])] as const
    }
    const find = async () => new Map(await Promise.all((await readdir(threads)).map(nicenessOf)))
    let niceness = await find()
    while (niceness.get('MergeMutate') !== 10) niceness = await find()
    expect(niceness.get('WorkerThread')).toBe(0)
  })

  it('works in its own directory, and may read none but what everybody may (SQ-2)', async () => {
    const pid = shared.embedded.pid ?? 0
    const status = await readFile(`/proc/${pid}/status`, 'utf8')
    const isRoot = process.getuid?.() === 0
    expect(/^Uid:\s+(\d+)/m.exec(status)?.[1]).toBe(isRoot ? '65534' : String(process.getuid?.()))
    const secret = join(await mkdtemp(join(tmpdir(), 'millrace-secret-')), 'key')
    await writeFile(secret, 'do-not-tell', { mode: 0o600 })
    const read = shared.engine.rows(`select * from file('${secret}', 'RawBLOB', 'text String')`)
    if (isRoot) expect((await failure(read)).message).not.toContain('do-not-tell')
    else expect(await read).toHaveLength(1)
  })
})
