/**
 * `npm run soak:ingest`: ingest while the service and its engine are killed under load. Ends with 1 if an acknowledged batch
 * is not there exactly once, or another one in part. Ctrl-C ends it sooner, with the report. See `--help`.
 */
import process from 'node:process'
import { createRandom } from '../delivery/chaos/create-random.ts'
import { soakOptions } from '../support/soak-options.ts'
import { runKills } from './kill-run.ts'

const { kills, seed } = soakOptions({ script: 'soak:ingest', kills: 100, databases: [] })
const end = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    end.abort()
  })
const startedAt = performance.now()
const report = await runKills({
  kills,
  random: createRandom(seed),
  signal: end.signal,
  progress: (text) => process.stderr.write(`\r${text}   `),
})
const seconds = Math.round((performance.now() - startedAt) / 1000)
const isGood = [report.lost, report.torn, report.unexpected].every((list) => list.length === 0)
if (!isGood) process.exitCode = 1
const title = `seed ${seed}, ${seconds} s: ${isGood ? 'nothing lost, nothing in part' : 'FAILED'}`
process.stdout.write(`\n${title}\n${JSON.stringify(report, null, 2)}\n`)
