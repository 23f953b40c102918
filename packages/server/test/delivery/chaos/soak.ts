/**
 * `npm run soak`: delivery while its processes and its database's are killed, its connections broken, its clocks set and its receiver misbehaves, on
 * both databases unless one is named. Ends with 1 if anything was lost, stale or different. See `--help`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { openDatabase } from '../../../src/database/database.ts'
import { soakOptions } from '../../support/soak-options.ts'
import { createRandom } from './create-random.ts'
import { startOwnPostgres } from './postgres-of-its-own.ts'
import { runChaos, type ChaosReport } from './run-chaos.ts'

const RUNS = { sqlite: onSqlite, postgres: onPostgres }
const { kills, seed, databases } = soakOptions({ script: 'soak', kills: 200, databases: Object.keys(RUNS) })
const progress = (text: string) => process.stderr.write(`\r${text}   `)

async function onSqlite(): Promise<ChaosReport> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-soak-'))
  const location = join(directory, 'control.sqlite')
  const database = { ...(await openDatabase(location)), location }
  try {
    const random = createRandom(seed)
    return await runChaos({ database, kills, workers: 1, server: null, random, progress })
  } finally {
    await database.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function onPostgres(): Promise<ChaosReport> {
  const { database, server, stop } = await startOwnPostgres()
  try {
    const random = createRandom(seed)
    return await runChaos({ database, kills, workers: 3, server, random, progress })
  } finally {
    await stop()
  }
}

for (const [name, run] of Object.entries(RUNS)) {
  if (!databases.includes(name)) continue
  const startedAt = performance.now()
  const report = await run()
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  const isGood = [report.faults, report.lost, report.different].every((list) => list.length === 0)
  if (!isGood) process.exitCode = 1
  const title = `${name}, seed ${seed}, ${seconds} s: ${isGood ? 'nothing lost, nothing stale' : 'FAILED'}`
  process.stdout.write(`\n${title}\n${JSON.stringify(report, null, 2)}\n`)
}
