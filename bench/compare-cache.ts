/**
 * `npm run bench:cache`: exact repeats of a large answer, a dashboard whose time moves on a step with every call, a stampede of equal misses, and SQL
 * under ingest, of the service and, where it has the same, of VictoriaMetrics with its cache of results, on the same samples in the same run; repeats of
 * as many bytes from bare Node beside them.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createApi, PROJECT, type Api } from './api.ts'
import { createClockOfService, type ClockOfService } from './cache/clock-of-service.ts'
import { askPanels, PANELS, repeat, ROUNDS, type Result } from './cache/rounds.ts'
import { sqlUnderIngest } from './cache/sql-under-ingest.ts'
import {
  askMillrace,
  DAY_MS,
  DAYS,
  millrace,
  PANEL_FUNCTIONS,
  PANEL_STEP_SECONDS,
  panelQuery,
  startBareServer,
  victoriaMetrics,
  WARM_UP_FUNCTION,
  type Asked,
  type PanelFunction,
} from './cache/systems.ts'
import { startPeer } from './metrics/peers.ts'
import { createRandom } from './random.ts'
import { createRawClient } from './raw-client.ts'
import { startService, type Service } from './service.ts'

const SERIES = 100
const HOUR_MS = 3_600_000
const SAMPLE_MS = 20 * 60_000
const STAMPEDE = 1000
const OUT = 'bench/results/cache.json'
/** Panels up to `now` are of other series than those by absolute times, whose points are known afterwards. */
const FIRST_SERIES_UP_TO_NOW = 50
/** The clock only goes on: by so many rounds for each kind of panel. */
const ROUNDS_UP_TO_NOW = ROUNDS * 2 * PANEL_FUNCTIONS.length
/** Ranges that move begin before the others. */
const DAYS_LOADED = DAYS + Math.ceil(ROUNDS_UP_TO_NOW / 24) + 1

async function run(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-cache-'))
  const endMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
  const running: { stop(): Promise<void> }[] = []
  try {
    const clock = createClockOfService(directory)
    const service = await startService(undefined, clock.environment)
    running.push(service)
    const victoria = await startPeer('VictoriaMetrics', join(directory, 'victoria'), { keepsResults: true })
    running.push(victoria)
    const api = createApi(service.url, service.key)
    process.stderr.write('loading …\n')
    await load(api, victoria.url, endMs)
    process.stderr.write('measuring …\n')
    const ours = millrace(service.url, service.key)
    const systems = [ours, victoriaMetrics(victoria.url)]
    const bare = await startBareServer((await repeat(ours, 1, endMs)).bytes)
    running.push(bare)
    const results: Result[] = []
    for (const clients of [1, 8]) {
      for (const system of [...systems, bare.asked]) results.push(await repeat(system, clients, endMs))
    }
    for (const system of systems) await followAbsolute(system, WARM_UP_FUNCTION, endMs)
    for (const name of PANEL_FUNCTIONS) {
      for (const system of systems) results.push(await followAbsolute(system, name, endMs))
    }
    results.push(...(await followNow(service, clock)))
    const computations = await stampede(service, endMs)
    results.push(...(await sqlUnderIngest(api, service.url, service.key)))
    report(results, computations)
  } finally {
    for (const { stop } of running.toReversed()) await stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function load(api: Api, victoriaUrl: string, endMs: number): Promise<void> {
  const random = createRandom(1)
  const [owner, name] = PROJECT.split('/')
  await api.post('/projects', { owner, name })
  for (let day = DAYS_LOADED; day > 0; day -= 1) {
    const records: string[] = []
    const lines: string[] = []
    for (let atMs = endMs - day * DAY_MS; atMs < endMs - (day - 1) * DAY_MS; atMs += SAMPLE_MS) {
      for (let series = 0; series < SERIES; series += 1) {
        const value = Math.round(random() * 1e6) / 100
        const labels = { series: String(series) }
        const place = { chain: '1', blockNumber: Math.floor(atMs / 12_000), timestampMicros: atMs * 1000 }
        records.push(JSON.stringify({ type: 'gauge', name: 'load', value, labels, ...place }))
        lines.push(`load{series="${series}"} ${value} ${atMs}`)
      }
    }
    await api.postLines(`/ingest/${PROJECT}/batch`, records.join('\n'))
    await fetch(`${victoriaUrl}/api/v1/import/prometheus`, { method: 'POST', body: lines.join('\n') })
  }
  await fetch(`${victoriaUrl}/internal/force_flush`)
}

/** Panels up to a time that moves one step on with each round: no request is ever asked twice. */
async function followAbsolute(system: Asked, name: PanelFunction, endMs: number): Promise<Result> {
  return askPanels(`${PANELS} panels, absolute times, ${name}`, system, (series, round) =>
    system.panel(name, series, endMs - (ROUNDS - round) * HOUR_MS),
  )
}

/**
 * Panels up to `now`, with a clock that goes on by a step with each round. By default, what is an hour old is given and renewed behind the answer; who takes
 * nothing that is older than a minute has it computed.
 */
async function followNow({ url, key, pid }: Service, clock: ClockOfService): Promise<readonly Result[]> {
  const results: Result[] = []
  let offsetHours = -ROUNDS_UP_TO_NOW
  for (const name of PANEL_FUNCTIONS) {
    for (const [wish, cachePolicy] of [
      ['', {}],
      ['fresh, ', { cacheTtlSecs: 60 }],
    ] as const) {
      const ask = (series: number): Buffer =>
        askMillrace(key, {
          queries: [panelQuery(FIRST_SERIES_UP_TO_NOW + series, name)],
          timeRange: { start: `now-${DAYS}d`, end: 'now', step: PANEL_STEP_SECONDS },
          cachePolicy,
        })
      const what = `${PANELS} panels, up to "now", ${wish}${name}`
      const moveOn = (): Promise<void> => clock.moveTo(pid, (offsetHours += 1))
      results.push(await askPanels(what, { name: 'Millrace', url }, ask, moveOn))
    }
  }
  return results
}

/** How many computations a thousand equal misses take: the service counts them itself. */
async function stampede({ url, key }: Service, endMs: number): Promise<number> {
  const before = await computations(url, key)
  const request = askMillrace(key, {
    queries: [{ query: 'load', aggregate: { op: 'SUM' } }],
    timeRange: { start: endMs - DAYS * DAY_MS, end: endMs, step: 1800 },
  })
  const clients = Array.from({ length: STAMPEDE }, () => createRawClient(url))
  await Promise.all(clients.map(({ ask }) => ask(request)))
  for (const { close } of clients) close()
  return (await computations(url, key)) - before
}

async function computations(url: string, key: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/service/metrics`, { headers: { 'api-key': key } })
  return Number(/^millrace_cache_computations_total (\d+)$/m.exec(await answer.text())?.[1])
}

function report(results: readonly Result[], stampedeComputations: number): void {
  mkdirSync('bench/results', { recursive: true })
  writeFileSync(OUT, JSON.stringify({ results, stampede: { STAMPEDE, stampedeComputations } }, null, 2))
  for (const { what, system, perSecond, latency, bytes } of results) {
    const { medianMs, p99Ms } = latency
    process.stdout.write(
      `${what.padEnd(50)} ${system.padEnd(16)} ${perSecond.toFixed(0).padStart(6)}/s  p50 ${medianMs.toFixed(2)} ms  p99 ${p99Ms.toFixed(2)} ms  ${Math.round(bytes / 1000)} kB\n`,
    )
  }
  for (const { what, perSecond } of results.filter(({ system }) => system === 'bare Node')) {
    const ours = results.find((each) => each.what === what && each.system === 'Millrace')?.perSecond ?? 0
    process.stdout.write(`${what}: ${Math.round((100 * ours) / perSecond)} % of bare Node\n`)
  }
  process.stdout.write(
    `${STAMPEDE} equal misses at once: computed ${stampedeComputations} time(s)\nWritten to ${OUT}\n`,
  )
  if (stampedeComputations !== 1) process.exitCode = 1
}

await run()
