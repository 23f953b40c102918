import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createFactEngine } from '../../src/clickhouse/create-fact-engine.ts'
import type { FactEngine } from '../../src/clickhouse/fact-engine.ts'
import { startEmbeddedEngine, type EmbeddedEngine } from '../../src/embedded/start-embedded-engine.ts'

export interface TestEngine {
  readonly engine: FactEngine
  /** The child process behind it; null with a real server. */
  readonly embedded: EmbeddedEngine | null
  stop(): Promise<void>
}

/**
 * A fact engine of its own: a fresh embedded one in a temporary directory, or the ClickHouse server at
 * MILLRACE_TEST_CLICKHOUSE_URL (`http://user:password@host:port`).
 */
export async function startTestEngine(options: { poolSize?: number } = {}): Promise<TestEngine> {
  const serverUrl = process.env['MILLRACE_TEST_CLICKHOUSE_URL']
  if (serverUrl !== undefined && serverUrl !== '') {
    const { protocol, host, username, password } = new URL(serverUrl)
    const engine = createFactEngine({
      url: `${protocol}//${host}`,
      username: username || 'default',
      password,
    })
    return { engine, embedded: null, stop: () => engine.close() }
  }
  const directory = await mkdtemp(join(tmpdir(), 'millrace-facts-'))
  const embedded = await startEmbeddedEngine({
    directory,
    logger: pino({ level: 'silent' }),
    poolSize: options.poolSize ?? 3,
  })
  const engine = createFactEngine((waitMs) => embedded.address(waitMs))
  return {
    engine,
    embedded,
    async stop() {
      await engine.close()
      await embedded.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
