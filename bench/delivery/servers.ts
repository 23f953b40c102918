import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../packages/server/test/support/free-port.ts'
import type { ServerKind } from './contender.ts'

/** A server of its own for one run, durable as it would be in production. */
export interface QueueServer {
  /** Where a contender finds it; for none, the path of a file. */
  readonly location: string
  /** Ends it without warning, and starts it again on the same files. */
  crash(): Promise<void>
  stop(): Promise<void>
}

const READY_MS = 20_000

/** Starts the server that a contender needs. */
export async function startServer(kind: ServerKind): Promise<QueueServer> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-delivery-'))
  const remove = () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  try {
    if (kind === 'none') {
      return {
        location: join(directory, 'control.sqlite'),
        crash: () => Promise.resolve(),
        stop: async () => remove(),
      }
    }
    const port = await freePort()
    const start = kind === 'redis' ? redisStarter(directory, port) : postgresStarter(directory, port)
    let server = await start.run()
    const abandon = () => void (server.kill('SIGKILL') && remove())
    process.once('exit', abandon)
    return {
      location: start.location,
      async crash() {
        await end(server, 'SIGKILL')
        await sleep(200)
        server = await untilStarted(start.run)
      },
      async stop() {
        process.off('exit', abandon)
        await end(server, kind === 'redis' ? 'SIGKILL' : 'SIGQUIT')
        await sleep(300)
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

interface Starter {
  readonly location: string
  run(): Promise<ChildProcess>
}

/** Files of PostgreSQL's log, of 16 MB, that are there before anything is measured. */
const LOG_FILES = 16

const PREPARE_SERVER = [
  'create extension if not exists pg_stat_statements;',
  ...Array<string>(LOG_FILES).fill("select pg_logical_emit_message(false, '', ''), pg_switch_wal();"),
  // What a checkpoint no longer needs is kept for later use.
  'checkpoint;',
].join('\n')

/**
 * The PostgreSQL of the system, with its defaults but for more memory; fsync and synchronous commits are on. Its log goes into files that were
 * used before, as it does wherever a server has run for a while: a new one first fills each with zeros, for which whoever commits waits 20 ms.
 */
function postgresStarter(directory: string, port: number): Starter {
  const bin = postgresBinaries()
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {}
  if (user.uid !== undefined && user.gid !== undefined) chownSync(directory, user.uid, user.gid)
  const data = join(directory, 'data')
  const init = spawnSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8'], {
    ...user,
    cwd: directory,
    encoding: 'utf8',
  })
  if (init.status !== 0) throw new Error(`initdb: ${init.stderr}`)
  const settings = [
    'shared_preload_libraries=pg_stat_statements',
    'shared_buffers=256MB',
    'max_wal_size=4GB',
    `min_wal_size=${LOG_FILES * 16 * 2}MB`,
    'max_connections=300',
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${directory}`,
    `port=${port}`,
  ].flatMap((setting) => ['-c', setting])
  const location = `postgres://postgres@127.0.0.1:${port}/postgres`
  let isPrepared = false
  return {
    location,
    async run() {
      const child = spawn(join(bin, 'postgres'), ['-D', data, ...settings], {
        ...user,
        cwd: directory,
        stdio: 'ignore',
      })
      await accepting(port, child)
      for (const startedAt = performance.now(); ; await sleep(100)) {
        const { status } = spawnSync(join(bin, 'psql'), [location, '-v', 'ON_ERROR_STOP=1'], {
          input: isPrepared ? 'select 1' : PREPARE_SERVER,
          stdio: ['pipe', 'ignore', 'ignore'],
        })
        isPrepared ||= status === 0
        if (status === 0) return child
        if (performance.now() - startedAt > READY_MS) throw new Error('PostgreSQL does not answer')
      }
    },
  }
}

/** Redis with an append-only file that is synchronised once a second, its documentation's advice for queues. */
function redisStarter(directory: string, port: number): Starter {
  if (spawnSync('redis-server', ['--version']).status !== 0) {
    throw new Error('redis-server is not installed; Debian: apt-get install redis-server')
  }
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--save', '']
  return {
    location: `redis://127.0.0.1:${port}`,
    async run() {
      mkdirSync(directory, { recursive: true })
      const child = spawn(
        'redis-server',
        [...settings, '--appendonly', 'yes', '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction'],
        { stdio: 'ignore' },
      )
      await accepting(port, child)
      await sleep(300)
      return child
    },
  }
}

function postgresBinaries(): string {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : []
  if (versions[0] === undefined) {
    throw new Error('PostgreSQL is not installed; Debian: apt-get install postgresql')
  }
  return join(root, versions[0], 'bin')
}

function idOf(flag: '-u' | '-g'): number {
  return Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout)
}

/** While processes of the one that was killed still run, PostgreSQL ends at once. */
async function untilStarted(run: Starter['run']): Promise<ChildProcess> {
  for (const startedAt = performance.now(); ; await sleep(100)) {
    try {
      return await run()
    } catch (error) {
      if (performance.now() - startedAt > READY_MS) throw error
    }
  }
}

async function accepting(port: number, server: ChildProcess): Promise<void> {
  for (const startedAt = performance.now(); ; await sleep(50)) {
    if (server.exitCode !== null) throw new Error(`what should listen on port ${port} ended by itself`)
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => (socket.destroy(), resolve(true)))
      socket.once('error', () => resolve(false))
    })
    if (isOpen) return
    if (performance.now() - startedAt > READY_MS) throw new Error(`nothing listens on port ${port}`)
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}
