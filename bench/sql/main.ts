/**
 * `npm run bench:sql`: times the SQL API over HTTP against the same statements sent straight to its engine, by turns. See `--help`. The tables are kept in
 * the directory, so that a second run measures at once.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { formatDisturbance, whileWatched } from '../disturbance/disturbance.ts'
import { createClient } from './client.ts'
import { fillTables } from './fill-tables.ts'
import { MEASUREMENTS, type SqlBench } from './measurements.ts'
import type { ServiceReport } from './service-process.ts'

const USAGE = `npm run bench:sql -- [options]

  --directory DIR  where the tables are kept (${join(tmpdir(), 'millrace-bench-sql')})
  --rows N         rows of the table of the analytic queries (10000000)
  --rounds N       times that each statement is sent on each way (20)
  --only A,B       of ${Object.keys(MEASUREMENTS).join(', ')}, or fill`

async function run(): Promise<void> {
  const { values } = parseArgs({
    options: {
      directory: { type: 'string', default: join(tmpdir(), 'millrace-bench-sql') },
      rows: { type: 'string', default: '10000000' },
      rounds: { type: 'string', default: '20' },
      only: { type: 'string', default: Object.keys(MEASUREMENTS).join(',') },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return show(USAGE)
  mkdirSync(values.directory, { recursive: true })
  const child = fork(join(import.meta.dirname, 'service-process.ts'), [values.directory], {
    execArgv: process.execArgv,
  })
  const exited = once(child, 'exit')
  const [report] = (await Promise.race([
    once(child, 'message'),
    exited.then(() => Promise.reject(new Error('the service did not start'))),
  ])) as [ServiceReport]
  const client = createClient(report)
  try {
    const bench: SqlBench = {
      client,
      rounds: Number(values.rounds),
      rows: Number(values.rows),
      servicePid: child.pid ?? 0,
      ...(await fillTables(client, Number(values.rows))),
      show,
    }
    for (const [name, measure] of Object.entries(MEASUREMENTS)) {
      if (!values.only.split(',').includes(name)) continue
      const { disturbance } = await whileWatched(() => measure(bench))
      show(`${name}: ${formatDisturbance(disturbance)}`)
    }
    show(
      `load of the machine ${loadavg()
        .map((each) => each.toFixed(1))
        .join(' ')}`,
    )
  } finally {
    client.close()
    child.send('stop')
    await exited
  }
}

function show(line: string): void {
  process.stdout.write(`${line}\n`)
}

try {
  await run()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
