import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../platform/errors.ts'
import type { FactEngine } from './fact-engine.ts'

const INSERT_CHECKS = 600
const BETWEEN_CHECKS_MS = 100

/**
 * Waits for the inserts into a database that run now. One whose sender gave up, or died, may still be running in the
 * engine: what it inserts after the erasure would stay. Throws `unavailable` when they do not end.
 */
export async function awaitRunningInserts(engine: FactEngine, database: string): Promise<void> {
  let ids = await runningInserts(engine, database)
  for (let checks = 0; ids.length > 0; checks++) {
    if (checks === INSERT_CHECKS) {
      throw new ServiceError('unavailable', 'an insert does not end', { retryAfterSeconds: 5 })
    }
    await sleep(BETWEEN_CHECKS_MS)
    const running = new Set(await runningInserts(engine, database))
    ids = ids.filter((id) => running.has(id))
  }
}

async function runningInserts(engine: FactEngine, database: string): Promise<readonly string[]> {
  const rows = await engine.rows<{ query_id: string }>(
    `select query_id from system.processes where query_kind = 'Insert' and position(query, {database:String}) > 0`,
    { parameters: { database } },
  )
  return rows.map(({ query_id: id }) => id)
}
