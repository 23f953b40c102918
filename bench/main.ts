/** `npm run bench`: loads a seeded data set over HTTP and measures the service with it. See `--help`. */
import process from 'node:process'
import { createApi, PROJECT } from './api.ts'
import { whileWatched } from './disturbance/disturbance.ts'
import { measureCache } from './measure-cache.ts'
import { measureDelivery } from './measure-delivery.ts'
import { measureIngest } from './measure-ingest.ts'
import { measureRangeQuery } from './measure-range-query.ts'
import { measureSql } from './measure-sql.ts'
import type { Bench, Figure, Measurement } from './measurement.ts'
import { readOptions, USAGE, type BenchOptions } from './options.ts'
import { formatDisturbances, formatFigures, writeResults } from './report.ts'
import { startService } from './service.ts'

const MEASUREMENTS: readonly Measurement[] = [
  measureIngest,
  measureRangeQuery,
  measureCache,
  measureSql,
  measureDelivery,
]
const PROGRESS_EVERY_MS = 2000
const HOUR_MS = 3_600_000

async function run(options: BenchOptions): Promise<void> {
  const { url, key } = options
  if (url !== null && key !== null) return measure(options, url, key)
  progress('starting the service')
  const service = await startService()
  try {
    await measure(options, service.url, service.key)
  } finally {
    await service.stop()
  }
}

/** Runs every measurement; what was measured before one failed is reported all the same. */
async function measure(options: BenchOptions, url: string, key: string): Promise<void> {
  const startedAt = new Date()
  const api = createApi(url, key)
  const [owner, name] = PROJECT.split('/')
  await api.post('/projects', { owner, name })
  const endAt = Math.floor(startedAt.getTime() / HOUR_MS) * HOUR_MS
  const bench: Bench = { options, api, endAt, progress }
  const figures: Figure[] = []
  try {
    for (const each of MEASUREMENTS) {
      const { result, disturbance } = await whileWatched(() => each(bench))
      figures.push(...result.map((figure) => ({ ...figure, disturbance })))
    }
  } finally {
    writeResults(options, startedAt, figures)
    process.stdout.write(
      `\n${formatFigures(figures)}\n\n${formatDisturbances(figures)}\n\nWritten to ${options.out}\n`,
    )
  }
}

let shownAt = Number.NEGATIVE_INFINITY
let shownKind = ''

/** Shows the first line of each kind (the words before the colon), then one every two seconds. */
function progress(text: string): void {
  const [kind = ''] = text.split(':')
  if (kind === shownKind && performance.now() - shownAt < PROGRESS_EVERY_MS) return
  shownKind = kind
  shownAt = performance.now()
  process.stderr.write(`${text} …\n`)
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options) await run(options)
  else process.stdout.write(`${USAGE}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
