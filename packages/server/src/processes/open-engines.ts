import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { createFactEngine } from '../clickhouse/create-fact-engine.ts'
import type { FactEngine } from '../clickhouse/fact-engine.ts'
import type { Config } from '../config.ts'
import { openDatabase, type OpenDatabase } from '../database/database.ts'
import { claimDataDirectory } from '../embedded/data-directory.ts'
import { startEmbeddedEngine } from '../embedded/start-embedded-engine.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import type { Phase } from './shutdown.ts'

/** Both engines, ready, and how they are closed again, last opened first. */
export interface OpenEngines {
  readonly facts: FactEngine
  readonly database: OpenDatabase
  /** Neither engine can be reached by another instance. */
  readonly isSoleInstance: boolean
  readonly closing: readonly Phase[]
}

const PHASE_MS = 20_000

/**
 * Opens the engines that the configuration names: the embedded ones in the data directory, which becomes this
 * process's own, or servers. Throws `ServiceError` with what to do; then nothing stays open.
 */
export async function openEngines(config: Config, log: Logger): Promise<OpenEngines> {
  const closing: Phase[] = []
  const closeLater = (name: string, run: () => Promise<void>): void => {
    closing.unshift({ name, timeoutMs: PHASE_MS, run })
  }
  const isFactsEmbedded = config.clickhouseUrl === ''
  const isDatabaseEmbedded = config.databaseUrl === ''
  try {
    if (isFactsEmbedded || isDatabaseEmbedded) {
      const claim = await claimDataDirectory(config.dataDirectory, {
        minimumFreeBytes: config.minimumFreeBytes,
        onLost: () => {
          log.fatal({ directory: config.dataDirectory }, 'data_directory.lost')
          // At once: an orderly stop would write.
          process.exit(1)
        },
      })
      closeLater('release the data directory', claim.release)
    }
    const database = await openControl(config)
    closeLater('close the control database', database.close)
    const facts = isFactsEmbedded ? await startFacts(config, log, closeLater) : connectFacts(config)
    closeLater('close connections to the fact engine', facts.close)
    if (isFactsEmbedded) await facts.ping()
    else await named('the fact engine at MILLRACE_CLICKHOUSE_URL', facts.ping())
    return { facts, database, isSoleInstance: isFactsEmbedded && isDatabaseEmbedded, closing }
  } catch (error) {
    for (const { run } of closing) await run()
    throw error
  }
}

async function openControl(config: Config): Promise<OpenDatabase> {
  if (config.databaseUrl === '') {
    const path = join(config.dataDirectory, 'control.db')
    const database = await openDatabase(path)
    // The user of the engine's process may pass through the directory, and must not read what is beside its own.
    for (const suffix of ['', '-wal', '-shm']) await chmod(path + suffix, 0o600).catch(() => undefined)
    return database
  }
  return named('the database at MILLRACE_DATABASE_URL', openDatabase(config.databaseUrl))
}

/** An engine elsewhere that does not answer is told by the setting that named it; the address itself may hold a password. */
async function named<Result>(what: string, opened: Promise<Result>): Promise<Result> {
  try {
    return await opened
  } catch (cause) {
    throw new ServiceError('unavailable', `${what} cannot be used: ${reasonOf(cause)}`, { cause })
  }
}

/** The innermost message, e.g. `connect ECONNREFUSED 127.0.0.1:8123`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const inner = error.cause instanceof Error ? reasonOf(error.cause) : ''
  return inner === '' ? error.message : inner
}

async function startFacts(
  config: Config,
  log: Logger,
  closeLater: (name: string, run: () => Promise<void>) => void,
): Promise<FactEngine> {
  const engine = await startEmbeddedEngine({
    directory: join(config.dataDirectory, 'facts'),
    logger: log,
    poolSize: config.engineSessions,
  })
  closeLater('stop the fact engine', engine.stop)
  return createFactEngine((waitMs) => engine.address(waitMs))
}

function connectFacts(config: Config): FactEngine {
  const { protocol, host, username, password } = new URL(config.clickhouseUrl)
  return createFactEngine({
    url: `${protocol}//${host}`,
    username: decodeURIComponent(username) || 'default',
    password: decodeURIComponent(password),
  })
}
