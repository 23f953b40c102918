import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { compose, type Composition } from '../compose.ts'
import { redactConfig, type Config } from '../config.ts'
import { sharedSecret } from '../database/secret-store.ts'
import { buildApp } from '../http/app.ts'
import { systemClock } from '../platform/clock.ts'
import { ServiceError } from '../platform/errors.ts'
import { createLogger, type Logger } from '../platform/logger.ts'
import { checkSuppliedKey } from '../projects/keys.ts'
import { createHousekeeper } from './housekeeper.ts'
import { openEngines, type OpenEngines } from './open-engines.ts'
import { shutDown, type Phase } from './shutdown.ts'

/** A running service. */
export interface RunningService {
  /** Where it listens, e.g. `http://127.0.0.1:8080`; empty when this process does not have the role `api`. */
  readonly address: string
  /** The administrator key, only at the start that made it (AU-4). */
  readonly administratorKey: string | null
  /** An orderly stop: answers what was asked, stores what was accepted, gives leases back. Never throws. */
  stop(): Promise<void>
}

const CLOCK = systemClock
/** Where the console is built to. */
const CONSOLE_DIRECTORY = join(import.meta.dirname, '..', '..', '..', 'console', 'dist')
const DRAIN_MS = 10_000
/** So long does a start wait for what earlier builds left wrong to be put right. */
const MEND_WAIT_MS = 30_000
/** A running attempt may take its five seconds, and be settled. */
const WORKER_STOP_MS = 8000

/** Starts the roles that the configuration names. Throws an error that says what to do; then nothing stays open. */
export async function serve(config: Config): Promise<RunningService> {
  const log = createLogger({
    level: config.logLevel,
    isPretty: config.logFormat === 'pretty' || (config.logFormat === 'auto' && process.stderr.isTTY),
  })
  log.info(redactConfig(config), 'service.starting')
  const supplied = config.administratorKey === '' ? undefined : config.administratorKey
  if (supplied !== undefined) checkSuppliedKey(supplied)
  const engines = await openEngines(config, log)
  const closing: Phase[] = [...engines.closing]
  try {
    const { db, ping: pingDatabase } = engines.database
    const cursorSecret = await sharedSecret(db, 'sql-cursor', randomBytes(32))
    const sqlUserSecret = await sharedSecret(db, 'sql-users', randomBytes(32))
    const sessionSecret = await sharedSecret(db, 'console-session', randomBytes(32))
    const parts = compose(
      config,
      { ...engines, db, pingDatabase, cursorSecret, sqlUserSecret, sessionSecret },
      CLOCK,
      log,
    )
    await parts.ingest.recover()
    // What takes longer goes on beside the first requests; what they are answered from it meanwhile is due once it is done.
    await Promise.race([parts.ingest.mend(), sleep(MEND_WAIT_MS, undefined, { ref: false })])
    await parts.analytics.executions.recover(engines.isSoleInstance)
    closing.unshift(...startBackground(config, parts, log))
    let address = ''
    if (config.roles.includes('api')) {
      const app = await startApi(config, parts, engines, log)
      closing.unshift({ name: 'answer what was asked', timeoutMs: DRAIN_MS, run: () => app.close() })
      address = app.listeningOrigin
    }
    // Last: a key that was made by a start which then failed, e.g. for a port in use, would never be shown.
    const administratorKey = await parts.keys.ensureAdministratorKey({ supplied })
    log.info({ address }, 'service.ready')
    return { address, administratorKey, stop: () => shutDown(closing, CLOCK, log) }
  } catch (error) {
    await shutDown(closing, CLOCK, log)
    throw error
  }
}

function startBackground(config: Config, parts: Composition, log: Logger): readonly Phase[] {
  const phases: Phase[] = [
    { name: 'store what was accepted', timeoutMs: DRAIN_MS, run: parts.ingest.stop },
    { name: 'end SQL statements', timeoutMs: DRAIN_MS, run: parts.analytics.stop },
    { name: 'settle the cache', timeoutMs: DRAIN_MS, run: parts.cache.settled },
    { name: 'stop writing answers', timeoutMs: 1000, run: parts.renderer.close },
  ]
  if (config.roles.includes('housekeeper')) {
    const housekeeper = createHousekeeper(parts.chores, log)
    housekeeper.start()
    phases.unshift({ name: 'stop the housekeeper', timeoutMs: DRAIN_MS, run: housekeeper.stop })
  }
  if (config.roles.includes('worker')) {
    parts.worker.start()
    parts.wakeUp?.listen(parts.worker.wake)
    phases.push({ name: 'stop delivering', timeoutMs: WORKER_STOP_MS, run: parts.worker.stop })
  }
  const { wakeUp } = parts
  if (wakeUp) phases.push({ name: 'stop waking workers', timeoutMs: 1000, run: wakeUp.stop })
  phases.push({ name: 'close connections to receivers', timeoutMs: 1000, run: parts.endpoint.close })
  return phases
}

async function startApi(
  config: Config,
  parts: Composition,
  engines: OpenEngines,
  log: Logger,
): ReturnType<typeof buildApp> {
  const app = await buildApp({
    log,
    access: parts.access,
    routes: parts.routes,
    bodyLimitBytes: config.bodyLimitBytes,
    console: { directory: CONSOLE_DIRECTORY, sessions: parts.sessions },
    onAnswered: parts.requestCounts.count,
    checkReady: async () => {
      await engines.database.ping()
      await engines.facts.ping()
    },
  })
  try {
    await app.listen({ host: config.host, port: config.port })
    return app
  } catch (error) {
    await app.close()
    throw explainListen(error, config)
  }
}

function explainListen(error: unknown, { host, port }: Config): unknown {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program listens there; stop it or choose another port with MILLRACE_PORT or --port',
    EACCES:
      'this user may not; ports below 1024 need more rights, choose another with MILLRACE_PORT or --port',
    EADDRNOTAVAIL: 'this machine has no such address; set MILLRACE_HOST to one that it has',
    ENOTFOUND: 'this name cannot be resolved; set MILLRACE_HOST to an address of this machine',
  }
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? '']
  if (reason === undefined) return error
  return new ServiceError('failed_precondition', `cannot listen on ${host}:${port}: ${reason}`, {
    cause: error,
  })
}
