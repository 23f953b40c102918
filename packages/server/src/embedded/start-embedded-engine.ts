import { fork, type ChildProcess } from 'node:child_process'
import { extname, resolve as resolvePath } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ServiceError } from '../platform/errors.ts'
import { randomId } from '../platform/ids.ts'
import type { Logger } from '../platform/logger.ts'
import type { EngineOrder, EngineReport } from './engine-messages.ts'
import { prepareEngineUser } from './engine-user.ts'
import { isolateNetwork } from './network-isolation.ts'

/** Where the engine answers, and how to be let in. */
export interface EngineAddress {
  readonly url: string
  readonly username: string
  readonly password: string
  /** The socket that stands for host and port of the address. */
  readonly socketPath?: string
}

export type EngineState = 'starting' | 'ready' | 'restarting' | 'stopped'

/** The supervised child process that owns the chDB directory. */
export interface EmbeddedEngine {
  readonly state: EngineState
  /** The process's number while there is one. */
  readonly pid: number | undefined
  /** Resolves as soon as the engine answers; throws `unavailable` when it does not within `waitMs`. */
  address(waitMs: number): Promise<EngineAddress>
  /** Lets running statements end, closes the directory, and ends the process. */
  stop(): Promise<void>
}

interface EmbeddedEngineOptions {
  readonly directory: string
  readonly logger: Logger
  /** Statements that run side by side. */
  readonly poolSize?: number
  /** Time limit of a statement that brings none. */
  readonly defaultTimeoutSeconds?: number
}

const DEFAULT_POOL_SIZE = 6
const DEFAULT_TIMEOUT_SECONDS = 300
const FIRST_RESTART_MS = 100
const LONGEST_RESTART_MS = 10_000
const STABLE_AFTER_MS = 30_000
const PROGRESS_EVERY_MS = 2000
const STOP_WITHIN_MS = 15_000
const START_WITHIN_MS = 120_000
// An engine of a service that was killed may hold the directory for two seconds more; who fails longer will not start.
const DEATHS_BEFORE_FIRST_START = 6
const STDERR_CHARACTERS = 1000

/**
 * Starts the engine's process and keeps it running: when it dies it is started again, after 100 ms at first and up to
 * 10 s when it keeps dying. Resolves when it answers for the first time.
 */
export async function startEmbeddedEngine(options: EmbeddedEngineOptions): Promise<EmbeddedEngine> {
  const poolSize = options.poolSize ?? DEFAULT_POOL_SIZE
  const { logger } = options
  const directory = resolvePath(options.directory)
  const { socketPath, ...setting } = isolateNetwork(directory, await prepareEngineUser(directory, logger))
  if (socketPath === null) logger.warn('engine.shares_the_network')
  let state: EngineState = 'starting'
  let child: ChildProcess | undefined
  let current: EngineAddress | null = null
  let restartMs = FIRST_RESTART_MS
  let restartTimer: NodeJS.Timeout | undefined
  let lastFailure = ''
  let deaths = 0
  const waiting = new Set<(address: EngineAddress | null) => void>()

  function announce(address: EngineAddress | null): void {
    for (const resolve of waiting) resolve(address)
    waiting.clear()
  }

  function launch(): void {
    const launchedAt = performance.now()
    const password = randomId(32)
    const process_ = fork(
      fileURLToPath(new URL(`./engine-process${extname(import.meta.filename)}`, import.meta.url)),
      [],
      {
        // Nothing of the service's environment: user SQL runs in there. The thread pool serves one fetch a session.
        env: { UV_THREADPOOL_SIZE: String(poolSize + 4), TZ: 'UTC' },
        cwd: directory,
        ...setting,
        execArgv: [...setting.execArgv],
        serialization: 'advanced',
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      },
    )
    child = process_
    let stderr = ''
    process_.stderr?.on('data', (text: Buffer) => {
      stderr = (stderr + text.toString()).slice(-STDERR_CHARACTERS)
    })
    const progress = setInterval(() => {
      logger.info({ waitedMs: Math.round(performance.now() - launchedAt) }, 'engine.starting')
    }, PROGRESS_EVERY_MS)
    process_.on('message', (report: EngineReport) => {
      if (report.kind === 'failed') {
        lastFailure = report.message
        return
      }
      clearInterval(progress)
      current = {
        url: `http://127.0.0.1:${report.port}`,
        username: 'default',
        password,
        ...(socketPath === null ? {} : { socketPath }),
      }
      state = 'ready'
      lastFailure = ''
      logger.info(
        { pid: process_.pid, startedInMs: Math.round(performance.now() - launchedAt) },
        'engine.ready',
      )
      announce(current)
    })
    process_.once('exit', (code, signal) => {
      clearInterval(progress)
      current = null
      child = undefined
      if (state === 'stopped') return
      lastFailure ||= stderr.trim()
      deaths++
      if (performance.now() - launchedAt > STABLE_AFTER_MS) restartMs = FIRST_RESTART_MS
      logger.error({ code, signal, reason: lastFailure || undefined, restartMs }, 'engine.died')
      if (state === 'starting' && deaths >= DEATHS_BEFORE_FIRST_START) {
        announce(null)
        return
      }
      if (state === 'ready') state = 'restarting'
      restartTimer = setTimeout(launch, restartMs)
      restartMs = Math.min(restartMs * 2, LONGEST_RESTART_MS)
    })
    // A process that died at once closes the channel under this; its exit is handled above.
    process_.on('error', (error) => {
      lastFailure = error.message
    })
    process_.send({
      kind: 'configure',
      directory,
      poolSize,
      password,
      socketPath,
      defaultTimeoutSeconds: options.defaultTimeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
    } satisfies EngineOrder)
  }

  async function address(waitMs: number): Promise<EngineAddress> {
    if (current) return current
    if (state !== 'stopped') {
      const found = await new Promise<EngineAddress | null>((resolve) => {
        const timer = setTimeout(() => {
          waiting.delete(settle)
          resolve(null)
        }, waitMs)
        const settle = (next: EngineAddress | null): void => {
          clearTimeout(timer)
          resolve(next)
        }
        waiting.add(settle)
      })
      if (found) return found
    }
    throw new ServiceError('unavailable', `the fact engine is ${state}`, {
      cause: lastFailure,
      retryAfterSeconds: Math.max(1, Math.ceil(restartMs / 1000)),
    })
  }

  async function stop(): Promise<void> {
    if (state === 'stopped') return
    state = 'stopped'
    clearTimeout(restartTimer)
    announce(null)
    const process_ = child
    if (!process_) return
    const exited = new Promise((resolve) => process_.once('exit', resolve))
    const deadline = setTimeout(() => process_.kill('SIGKILL'), STOP_WITHIN_MS)
    if (process_.connected) process_.send({ kind: 'stop' } satisfies EngineOrder)
    await exited
    clearTimeout(deadline)
  }

  launch()
  const engine: EmbeddedEngine = {
    get state() {
      return state
    },
    get pid() {
      return child?.pid
    },
    address,
    stop,
  }
  try {
    await address(START_WITHIN_MS)
  } catch (cause) {
    await stop()
    throw new ServiceError(
      'unavailable',
      `the fact engine did not start in ${options.directory}: ${lastFailure}`,
      { cause },
    )
  }
  return engine
}
