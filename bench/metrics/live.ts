import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApi, PROJECT } from '../api.ts'
import { summarise, timeOnce, type Latency } from '../latency.ts'
import { startService, type Service } from '../service.ts'
import { startPeer, type PeerName } from './peers.ts'

const METRICS = 40
const SERIES = 100
const GROUPS = 10
const HISTORY_HOURS = 96
const HOUR_MS = 3_600_000
/** Ten thousand samples a second, in ten batches. */
const BATCH_SAMPLES = 1000
const BATCH_EVERY_MS = 100
/** A dashboard asks for its panels once a second. */
const ROUND_EVERY_MS = 1000
const SECONDS = 30

/** A system that takes samples while a dashboard of it is open. */
interface LiveSystem {
  readonly name: string
  store(samples: readonly LiveSample[]): Promise<unknown>
  /** One panel, four days by the hour up to now: its metric, averaged or added up by the hour, summed by a label. */
  ask(metric: number, isCached: boolean): Promise<unknown>
}

interface LiveSample {
  readonly metric: number
  readonly series: number
  readonly atMs: number
  readonly value: number
}

/** How long the panels of a dashboard took while samples arrived, and how many of these were stored a second. */
interface LiveResult {
  readonly isCached: boolean
  readonly storedASecond: Readonly<Record<string, number>>
  readonly panels: Readonly<Record<string, Latency>>
}

/** Asks for dashboards up to now, with the cache of results and without, of systems that all take the same ten thousand samples a second. */
export async function measureLive(
  peers: readonly PeerName[],
  progress: (text: string) => void,
): Promise<readonly LiveResult[]> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const service = await startService()
  // Prometheus takes no samples over HTTP unless it is told to.
  const running = await Promise.all(
    peers
      .filter((name) => name === 'VictoriaMetrics')
      .map((name) => startPeer(name, join(directory, name), { keepsResults: true })),
  )
  try {
    const systems = [await millrace(service), ...running.map(({ name, url }) => victoriaMetrics(name, url))]
    const now = Date.now()
    for (const system of systems) {
      progress(`live: history of ${system.name}`)
      for (let metric = 0; metric < METRICS; metric += 1) await system.store(historyOf(metric, now))
    }
    const results: LiveResult[] = []
    for (const isCached of [false, true]) {
      progress(`live: panels ${isCached ? 'with' : 'without'} the cache of results`)
      results.push(await measure(systems, isCached))
    }
    return results
  } finally {
    for (const peer of running) await peer.stop()
    await service.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function measure(systems: readonly LiveSystem[], isCached: boolean): Promise<LiveResult> {
  const over = new AbortController()
  const startedAt = performance.now()
  const storing = systems.map((system) => storeUntil(system, over.signal))
  const took = new Map(systems.map(({ name }) => [name, [] as number[]]))
  // The first round reads what the next ones find in memory.
  for (let round = 0; round === 0 || performance.now() - startedAt < SECONDS * 1000; round += 1) {
    const nextAt = performance.now() + ROUND_EVERY_MS
    for (const system of systems) {
      for (let metric = 0; metric < METRICS; metric += 1) {
        const durationMs = await timeOnce(() => system.ask(metric, isCached))
        if (round > 0) took.get(system.name)?.push(durationMs)
      }
    }
    await sleep(Math.max(0, nextAt - performance.now()))
  }
  over.abort()
  const stored = await Promise.all(storing)
  const seconds = (performance.now() - startedAt) / 1000
  return {
    isCached,
    storedASecond: Object.fromEntries(
      systems.map(({ name }, index) => [name, Math.round((stored[index] ?? 0) / seconds)]),
    ),
    panels: Object.fromEntries(systems.map(({ name }) => [name, summarise(took.get(name) ?? [])])),
  }
}

/** Sends a batch each tenth of a second, whether or not the ones before were answered. Returns how many samples were stored. */
async function storeUntil(system: LiveSystem, over: AbortSignal): Promise<number> {
  const sent: Promise<unknown>[] = []
  const startedAt = performance.now()
  while (!over.aborted) {
    const first = sent.length * BATCH_SAMPLES
    const atMs = Date.now()
    const samples = Array.from({ length: BATCH_SAMPLES }, (_, index) => ({
      metric: (first + index) % METRICS,
      series: Math.floor((first + index) / METRICS) % SERIES,
      atMs,
      value: (first + index) % 13,
    }))
    sent.push(system.store(samples))
    await sleep(Math.max(0, startedAt + sent.length * BATCH_EVERY_MS - performance.now()))
  }
  await Promise.all(sent)
  return sent.length * BATCH_SAMPLES
}

function historyOf(metric: number, nowMs: number): readonly LiveSample[] {
  return Array.from({ length: HISTORY_HOURS * SERIES }, (_, index) => ({
    metric,
    series: index % SERIES,
    atMs: nowMs - (HISTORY_HOURS - Math.floor(index / SERIES)) * HOUR_MS,
    value: index % 7,
  }))
}

/** Every fourth metric is a counter, whose samples are what was added. */
function isCounter(metric: number): boolean {
  return metric % 4 === 0
}

async function millrace({ url, key }: Service): Promise<LiveSystem> {
  const api = createApi(url, key)
  const [owner, name] = PROJECT.split('/')
  await api.post('/projects', { owner, name })
  const hour = [{ durationValue: { value: 1, unit: 'h' } }]
  return {
    name: 'Millrace',
    store: (samples) =>
      api.postLines(
        `/ingest/${PROJECT}/batch`,
        samples
          .map(
            ({ metric, series, atMs, value }) =>
              `{"type":"${isCounter(metric) ? 'counter' : 'gauge'}","name":"live${metric}","value":${value},"labels":{"pool":"p${series}","group":"g${series % GROUPS}"},"chain":"1","blockNumber":${Math.floor(atMs / 12_000)},"timestampMicros":${atMs * 1000}}`,
          )
          .join('\n'),
      ),
    ask: (metric, isCached) =>
      api.post(`/metrics/${PROJECT}/query_range`, {
        queries: [
          {
            query: `live${metric}`,
            functions: [{ name: isCounter(metric) ? 'delta_over_time' : 'avg_over_time', arguments: hour }],
            aggregate: { op: 'SUM', grouping: ['group'] },
          },
        ],
        timeRange: { start: `now-${HISTORY_HOURS / 24}d`, end: 'now', step: HOUR_MS / 1000 },
        ...(isCached ? {} : { cachePolicy: { noCache: true } }),
      }),
  }
}

function victoriaMetrics(name: string, url: string): LiveSystem {
  const agent = new Agent({ keepAlive: true })
  return {
    name,
    store: (samples) =>
      post(
        agent,
        `${url}/api/v1/import/prometheus`,
        samples
          .map(
            ({ metric, series, atMs, value }) =>
              `live${metric}{pool="p${series}",group="g${series % GROUPS}",chain="1"} ${value} ${atMs}`,
          )
          .join('\n'),
      ),
    ask: async (metric, isCached) => {
      const now = Date.now() / 1000
      const function_ = isCounter(metric) ? 'sum_over_time' : 'avg_over_time'
      const body = new URLSearchParams({
        query: `sum by (group) (${function_}(live${metric}[1h]))`,
        start: String(now - (HISTORY_HOURS * HOUR_MS) / 1000),
        end: String(now),
        step: String(HOUR_MS / 1000),
        ...(isCached ? {} : { nocache: '1' }),
      })
      return JSON.parse(await post(agent, `${url}/api/v1/query_range`, body.toString())) as unknown
    },
  }
}

async function post(agent: Agent, url: string, body: string): Promise<string> {
  const sent = request(url, {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  sent.end(body)
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of answer) text += String(chunk)
  if ((answer.statusCode ?? 0) >= 300) throw new Error(`${url} answered ${answer.statusCode}: ${text}`)
  return text
}
