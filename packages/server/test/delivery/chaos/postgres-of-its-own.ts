import { Client } from 'pg'
import { openDatabase, type OpenDatabase } from '../../../src/database/database.ts'
import { administer, databaseUrl } from '../../support/postgres-global-setup.ts'
import { startPostgres } from '../../support/postgres-server.ts'
import { breakConnections } from './break-connections.ts'
import type { ChaosOptions } from './run-chaos.ts'

/** A PostgreSQL that nobody else uses, so that it may be killed. */
export interface OwnPostgres {
  readonly database: OpenDatabase & { readonly location: string }
  readonly server: NonNullable<ChaosOptions['server']>
  stop(): Promise<void>
}

/** Starts it. Its commits outlive its processes, unlike those of the server that other tests share. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const server = await startPostgres()
  await administer(server.url, 'create database chaos')
  await administer(server.url, 'alter database chaos set synchronous_commit = on')
  const location = databaseUrl(server.url, 'chaos')
  const database = { ...(await openDatabase(location)), location }
  return {
    database,
    server: {
      breakConnections: () => breakConnections(database.db),
      crash: () => killOneBackend(location),
      crashWhole: () => server.crash(),
    },
    async stop() {
      await database.close()
      await server.stop()
    },
  }
}

/** When one of its processes dies without a word, PostgreSQL ends all others, forgets its shared memory and recovers. */
async function killOneBackend(location: string): Promise<void> {
  const victim = new Client({ connectionString: location })
  const ended = new Promise((resolve) => victim.once('end', resolve))
  victim.on('error', () => undefined)
  try {
    await victim.connect()
    const { rows } = await victim.query<{ pid: number }>('select pg_backend_pid() as pid')
    const pid = rows[0]?.pid
    if (pid === undefined) throw new Error('no backend')
    process.kill(pid, 'SIGKILL')
    await ended
  } catch {
    // Still recovering from the last time.
  }
  await victim.end().catch(() => undefined)
}
