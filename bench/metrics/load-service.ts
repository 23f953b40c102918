import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { createFactEngine } from '../../packages/server/src/clickhouse/create-fact-engine.ts'
import type { FactEngine } from '../../packages/server/src/clickhouse/fact-engine.ts'
import { startEmbeddedEngine } from '../../packages/server/src/embedded/start-embedded-engine.ts'
import { createApi, PROJECT } from '../api.ts'
import { startService } from '../service.ts'
import { curveMetrics, pointsInsert, samplesOf, seriesInsert, type BenchMetric } from './data-set.ts'

/** A stretch of this many samples is one insert, as a busy service would commit them. */
const SAMPLES_AN_INSERT = 500_000
const LONG_MS = 600_000

/**
 * Loads the data set into a data directory of the service, unless an earlier run has. The project and its version are made over HTTP, the
 * samples are made by the engine itself; `checkLoaded` asks for some of them over HTTP.
 */
export async function loadService(
  directory: string,
  metrics: readonly BenchMetric[],
  progress: (text: string) => void,
): Promise<void> {
  const done = join(directory, 'loaded')
  if (existsSync(done)) return
  mkdirSync(directory, { recursive: true })
  const service = await startService(join(directory, 'data'))
  const api = createApi(service.url, service.key)
  const [owner, name] = PROJECT.split('/')
  await api.post('/projects', { owner, name })
  await api.postLines(
    `/ingest/${PROJECT}/batch`,
    JSON.stringify({ type: 'gauge', name: 'probe', value: 1, timestampMicros: 1 }),
  )
  await service.stop()
  await addMetrics(directory, metrics, progress)
  writeFileSync(done, '')
}

/** Adds what the curves need, each unless an earlier run has. */
export async function loadCurves(
  directory: string,
  scale: number,
  progress: (text: string) => void,
): Promise<void> {
  for (const metric of curveMetrics(scale)) {
    const done = join(directory, `loaded-${metric.name}`)
    if (existsSync(done)) continue
    await addMetrics(directory, [metric], progress)
    writeFileSync(done, '')
  }
}

async function addMetrics(
  directory: string,
  metrics: readonly BenchMetric[],
  progress: (text: string) => void,
): Promise<void> {
  await withEngine(directory, async (engine) => {
    const facts = await factsDatabase(engine)
    for (const metric of metrics) await loadMetric(engine, facts, metric, progress)
    progress('merging')
    await engine.command(`optimize table ${facts}.points final`, { timeoutMs: LONG_MS })
  })
}

async function loadMetric(
  engine: FactEngine,
  facts: string,
  metric: BenchMetric,
  progress: (text: string) => void,
): Promise<void> {
  await engine.command(seriesInsert(facts, metric))
  const together = Math.max(1, (metric.everyMinutes ?? 1) / 60)
  const wanted = (SAMPLES_AN_INSERT * metric.hours) / samplesOf(metric)
  const hours = together * Math.max(1, Math.floor(wanted / together))
  for (let from = 0; from < metric.hours; from += hours) {
    const to = Math.min(from + hours, metric.hours)
    await engine.command(pointsInsert(facts, metric, from, to, 1000 + from), { timeoutMs: LONG_MS })
    progress(
      `loading: ${metric.name}, ${(samplesOf(metric) * to) / metric.hours} of ${samplesOf(metric)} samples`,
    )
  }
}

/** Runs work on the fact engine of a data directory that no service holds. */
export async function withEngine<Result>(
  directory: string,
  work: (engine: FactEngine) => Promise<Result>,
): Promise<Result> {
  const embedded = await startEmbeddedEngine({
    directory: join(directory, 'data', 'facts'),
    logger: pino({ level: 'silent' }),
    poolSize: 2,
  })
  const engine = createFactEngine((waitMs) => embedded.address(waitMs))
  try {
    return await work(engine)
  } finally {
    await engine.close()
    await embedded.stop()
  }
}

/** The database of the only project's only version. */
export async function factsDatabase(engine: FactEngine): Promise<string> {
  const [row] = await engine.rows<{ name: string }>(
    `select name from system.databases where endsWith(name, '_facts')`,
  )
  if (!row) throw new Error('the directory holds no project')
  return row.name
}
