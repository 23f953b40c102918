/**
 * Child process of the SQL measurement: the service on a directory, as `serve` composes it. Tells its parent over IPC where service and engine
 * answer, so that the same statement can be sent to either.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import process from 'node:process'
import { setFlagsFromString } from 'node:v8'
import { createFactEngine } from '../../packages/server/src/clickhouse/create-fact-engine.ts'
import { compose } from '../../packages/server/src/compose.ts'
import { loadConfig } from '../../packages/server/src/config.ts'
import { openDatabase } from '../../packages/server/src/database/database.ts'
import {
  startEmbeddedEngine,
  type EngineAddress,
} from '../../packages/server/src/embedded/start-embedded-engine.ts'
import { buildApp } from '../../packages/server/src/http/app.ts'
import { systemClock } from '../../packages/server/src/platform/clock.ts'
import { createLogger } from '../../packages/server/src/platform/logger.ts'

/** What the parent is told. */
export interface ServiceReport {
  readonly url: string
  readonly key: string
  readonly engine: EngineAddress
  readonly enginePid: number
}

// As the service's own entry does.
setFlagsFromString('--heap-growing-percent=100')
setFlagsFromString('--external-memory-accounted-in-global-limit')

const KEY = 'bench-administrator-key-of-a-temporary-service'
const START_WITHIN_MS = 60_000

const [, , dataDirectory = ''] = process.argv
const config = loadConfig({ dataDirectory, administratorKey: KEY, port: 0, logLevel: 'warn' }, {})
const log = createLogger({ level: 'warn', isPretty: false })
const embedded = await startEmbeddedEngine({
  directory: join(dataDirectory, 'facts'),
  logger: log,
  poolSize: config.engineSessions,
})
const database = await openDatabase(join(dataDirectory, 'control.db'))
const parts = compose(
  config,
  {
    facts: createFactEngine((waitMs) => embedded.address(waitMs)),
    db: database.db,
    cursorSecret: randomBytes(32),
    sqlUserSecret: randomBytes(32),
    sessionSecret: randomBytes(32),
    isSoleInstance: true,
    pingDatabase: database.ping,
  },
  systemClock,
  log,
)
await parts.keys.ensureAdministratorKey({ supplied: KEY })
const app = await buildApp({
  log,
  access: parts.access,
  routes: parts.routes,
  bodyLimitBytes: config.bodyLimitBytes,
  checkReady: () => Promise.resolve(),
})
const url = await app.listen({ port: 0, host: '127.0.0.1' })
const engine = await embedded.address(START_WITHIN_MS)
process.send?.({ url, key: KEY, engine, enginePid: embedded.pid ?? 0 } satisfies ServiceReport)

process.once('message', () => {
  void (async () => {
    await app.close()
    await parts.analytics.stop()
    await database.close()
    await embedded.stop()
    process.exit(0)
  })()
})
