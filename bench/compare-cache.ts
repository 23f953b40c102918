/**
 * `npm run bench:cache`: exact repeats of a large answer, a dashboard whose `now` moves on, and a stampede of equal misses, of the service and of
 * VictoriaMetrics with its cache of results, on the same samples in the same run; repeats of as many bytes from bare Node beside them.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { createApi, PROJECT, type Api } from './api.ts'
import { summarise, type Latency } from './latency.ts'
import { startPeer } from './metrics/peers.ts'
import { createRandom } from './random.ts'
import { createRawClient, rawRequest } from './raw-client.ts'
import { startService } from './service.ts'

const SERIES = 100
const DAYS = 30
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const SAMPLE_MS = 20 * 60_000
const PANELS = 40
const ROUNDS = 12
const STAMPEDE = 1000
const SECONDS = 3
const WARM_UPS = 5
const OUT = 'bench/results/cache.json'
const LARGE_STEP_SECONDS = 3 * 3600

/** A system under measurement, by what it is asked. */
interface Asked {
  readonly name: string
  readonly url: string
  large(endMs: number): Buffer
  panel(name: PanelFunction, series: number, endMs: number): Buffer
}

/** Points of the first are known from the round before; the second is added up again each time. */
const PANEL_FUNCTIONS = ['max_over_time', 'avg_over_time'] as const
type PanelFunction = (typeof PANEL_FUNCTIONS)[number]

interface Result {
  readonly what: string
  readonly system: string
  readonly perSecond: number
  readonly latency: Latency
  readonly bytes: number
}

async function run(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-cache-'))
  const endMs = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
  const running: { stop(): Promise<void> }[] = []
  try {
    const service = await startService()
    running.push(service)
    const victoria = await startPeer('VictoriaMetrics', join(directory, 'victoria'), { keepsResults: true })
    running.push(victoria)
    const api = createApi(service.url, service.key)
    process.stderr.write('loading …\n')
    await load(api, victoria.url, endMs)
    process.stderr.write('measuring …\n')
    const systems = [millrace(service.url, service.key), victoriaMetrics(victoria.url)]
    const large = await repeat(systems[0] as Asked, 1, endMs)
    const bare = await startBareServer(large.bytes)
    running.push(bare)
    const results: Result[] = []
    for (const clients of [1, 8]) {
      const rounds = [...systems, sameBytes(bare.url)]
      for (const system of rounds) results.push(await repeat(system, clients, endMs))
    }
    for (const system of systems) {
      for (const name of PANEL_FUNCTIONS) results.push(await followNow(system, name, endMs))
    }
    results.push(await askRelative(service.url, service.key))
    const computations = await stampede(service.url, service.key, endMs)
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
  for (let day = DAYS; day > 0; day -= 1) {
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

function millrace(url: string, key: string): Asked {
  const ask = (body: object) => askMillrace(key, body)
  return {
    name: 'Millrace',
    url,
    large: (endMs) =>
      ask({
        queries: [{ query: 'load' }],
        timeRange: { start: endMs - DAYS * DAY_MS, end: endMs, step: LARGE_STEP_SECONDS },
      }),
    panel: (name, series, endMs) =>
      ask({
        queries: [panelQuery(series, name)],
        timeRange: { start: endMs - DAYS * DAY_MS, end: endMs, step: 3600 },
      }),
  }
}

function askMillrace(key: string, body: object): Buffer {
  const headers = { 'api-key': key, 'content-type': 'application/json', 'accept-encoding': 'gzip' }
  return rawRequest('POST', `/api/v1/metrics/${PROJECT}/query_range`, headers, JSON.stringify(body))
}

function panelQuery(series: number, name: PanelFunction = 'max_over_time') {
  return {
    query: 'load',
    labelSelector: { series: String(series) },
    functions: [{ name, arguments: [{ durationValue: { value: 1, unit: 'h' } }] }],
  }
}

function victoriaMetrics(url: string): Asked {
  return {
    name: 'VictoriaMetrics',
    url,
    large: (endMs) => askVictoria('last_over_time(load[1d])', endMs, LARGE_STEP_SECONDS),
    panel: (name, series, endMs) => askVictoria(`${name}(load{series="${series}"}[1h])`, endMs, 3600),
  }
}

/** Node's own server that answers whatever it is asked with as many bytes as the large answer has. */
async function startBareServer(bytes: number): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const child = fork(join(import.meta.dirname, 'cache', 'bare-server-process.ts'), [String(bytes)])
  const [port] = (await once(child, 'message')) as [number]
  const stop = async (): Promise<void> => {
    child.kill()
    await once(child, 'exit')
  }
  return { url: `http://127.0.0.1:${port}`, stop }
}

function sameBytes(url: string): Asked {
  const request = rawRequest('POST', '/', { 'content-type': 'application/json' }, '{}')
  return { name: 'bare Node', url, large: () => request, panel: () => request }
}

function askVictoria(query: string, endMs: number, step: number): Buffer {
  const parameters = new URLSearchParams({
    query,
    start: String(endMs / 1000 - DAYS * 86_400),
    end: String(endMs / 1000),
    step: `${step}s`,
  })
  return rawRequest('GET', `/api/v1/query_range?${parameters.toString()}`, { 'accept-encoding': 'gzip' })
}

/** The same large answer again and again. */
async function repeat(system: Asked, clients: number, endMs: number): Promise<Result> {
  const request = system.large(endMs)
  const durations: number[] = []
  let bytes = 0
  const connections = Array.from({ length: clients }, () => createRawClient(system.url))
  for (const { ask } of connections) for (let i = 0; i < WARM_UPS; i += 1) await ask(request)
  const startedAt = performance.now()
  await Promise.all(
    connections.map(async ({ ask, close }) => {
      while (performance.now() - startedAt < SECONDS * 1000) {
        const askedAt = performance.now()
        bytes = await ask(request)
        durations.push(performance.now() - askedAt)
      }
      close()
    }),
  )
  const perSecond = (durations.length / (performance.now() - startedAt)) * 1000
  const what = `exact repeats, ${clients} client${clients === 1 ? '' : 's'}`
  return { what, system: system.name, perSecond, latency: summarise(durations), bytes }
}

/** Panels up to a time that moves one step on with each round: no request is ever asked twice. */
async function followNow(system: Asked, name: PanelFunction, endMs: number): Promise<Result> {
  const what = `dashboard of ${PANELS}, each call one step on, ${name}`
  return panels(what, system.name, system.url, (series, round) =>
    system.panel(name, series, endMs - (ROUNDS - round) * HOUR_MS),
  )
}

/** Panels up to `now` as it is written, which are the same request each time. */
async function askRelative(url: string, key: string): Promise<Result> {
  return panels(`dashboard of ${PANELS}, up to "now"`, 'Millrace', url, (series) =>
    askMillrace(key, {
      queries: [panelQuery(series)],
      timeRange: { start: `now-${DAYS}d`, end: 'now', step: 3600 },
    }),
  )
}

async function panels(
  what: string,
  system: string,
  url: string,
  requestOf: (series: number, round: number) => Buffer,
): Promise<Result> {
  const client = createRawClient(url)
  const durations: number[] = []
  let bytes = 0
  const startedAt = performance.now()
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let series = 0; series < PANELS; series += 1) {
      const request = requestOf(series, round)
      const askedAt = performance.now()
      bytes = await client.ask(request)
      // In the first round nothing is known yet.
      if (round > 0) durations.push(performance.now() - askedAt)
    }
  }
  client.close()
  const perSecond = ((ROUNDS * PANELS) / (performance.now() - startedAt)) * 1000
  return { what, system, perSecond, latency: summarise(durations), bytes }
}

/** How many computations a thousand equal misses take: the service counts them itself. */
async function stampede(url: string, key: string, endMs: number): Promise<number> {
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
      `${what.padEnd(58)} ${system.padEnd(16)} ${perSecond.toFixed(0).padStart(6)}/s  p50 ${medianMs.toFixed(2)} ms  p99 ${p99Ms.toFixed(2)} ms  ${Math.round(bytes / 1000)} kB\n`,
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
