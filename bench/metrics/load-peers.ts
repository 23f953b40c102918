import { execFile } from 'node:child_process'
import { createWriteStream, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { FactEngine } from '../../packages/server/src/clickhouse/fact-engine.ts'
import { END_MS, linesQuery, type BenchMetric } from './data-set.ts'
import { withEngine } from './load-service.ts'
import { ensureInstalled, startPeer, type PeerName } from './peers.ts'

const LONG_MS = 1_200_000
const LOOKS_MAX = 30
const LOOK_EVERY_MS = 1000
const SETTLE_MS = 20_000
/** A series is whole with this share of its samples: the first may lie on the edge of the window that counts them. */
const WHOLE_SHARE = 0.999

/** Loads the same samples into a peer, unless an earlier run has: the engine that made ours writes them out as text. */
export async function loadPeer(
  name: PeerName,
  directory: string,
  metrics: readonly BenchMetric[],
  progress: (text: string) => void,
): Promise<void> {
  const done = join(directory, `loaded-${name}`)
  if (existsSync(done)) return
  ensureInstalled(name)
  const target = join(directory, name)
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  await withEngine(directory, async (engine) => {
    if (name === 'VictoriaMetrics') await loadVictoriaMetrics(engine, target, metrics, progress)
    else await loadPrometheus(engine, target, metrics, progress)
  })
  writeFileSync(done, '')
}

async function loadVictoriaMetrics(
  engine: FactEngine,
  target: string,
  metrics: readonly BenchMetric[],
  progress: (text: string) => void,
): Promise<void> {
  const peer = await startPeer('VictoriaMetrics', target)
  try {
    for (const metric of metrics) await importMetric(engine, peer.url, metric, progress)
    progress('merging VictoriaMetrics')
    await fetch(`${peer.url}/internal/force_merge`)
    // Stopped at once it forgets some of many new series.
    await sleep(SETTLE_MS)
  } finally {
    await peer.stop()
  }
  const again = await startPeer('VictoriaMetrics', target)
  try {
    for (const metric of metrics) await waitForAll(again.url, metric, progress)
  } finally {
    await again.stop()
  }
}

/** Imports a metric and waits until all of it is found: the last of a long import becomes visible after it was answered. */
async function importMetric(
  engine: FactEngine,
  url: string,
  metric: BenchMetric,
  progress: (text: string) => void,
): Promise<void> {
  progress(`loading VictoriaMetrics: ${metric.name}`)
  const lines = await engine.stream(linesQuery(metric, 'milliseconds'), 'TSVRaw', { timeoutMs: LONG_MS })
  await post(`${url}/api/v1/import/prometheus`, lines)
  await waitForAll(url, metric, progress)
}

async function waitForAll(url: string, metric: BenchMetric, progress: (text: string) => void): Promise<void> {
  let found = 0
  for (let attempt = 0; attempt < LOOKS_MAX; attempt += 1) {
    await fetch(`${url}/internal/force_flush`)
    found = await seriesFound(url, metric)
    if (found === metric.series) return
    progress(`VictoriaMetrics has ${found} of ${metric.series} series of ${metric.name}`)
    await sleep(LOOK_EVERY_MS)
  }
  throw new Error(
    `VictoriaMetrics has ${found} of ${metric.series} series of ${metric.name}; remove its directory and load it again`,
  )
}

async function seriesFound(url: string, { name, hours }: BenchMetric): Promise<number> {
  const query = `count(count_over_time(${name}[${hours}h]) >= ${hours * 60 * WHOLE_SHARE})`
  const body = new URLSearchParams({ query, time: String(END_MS / 1000), nocache: '1' })
  const answer = await fetch(`${url}/api/v1/query`, { method: 'POST', body })
  const { data } = (await answer.json()) as {
    data: { result: readonly { value: readonly [number, string] }[] }
  }
  return Number(data.result[0]?.value[1] ?? 0)
}

async function post(url: string, body: Readable): Promise<void> {
  const sent = request(url, { method: 'POST' })
  const answered = new Promise<number>((resolve, reject) => {
    sent.once('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.once('error', reject)
  })
  await pipeline(body, sent)
  const status = await answered
  if (status >= 300) throw new Error(`${url} answered ${status}`)
}

async function loadPrometheus(
  engine: FactEngine,
  target: string,
  metrics: readonly BenchMetric[],
  progress: (text: string) => void,
): Promise<void> {
  const file = `${target}.txt`
  for (const metric of metrics) {
    progress(`loading Prometheus: ${metric.name}`)
    const lines = await engine.stream(linesQuery(metric, 'seconds'), 'TSVRaw', { timeoutMs: LONG_MS })
    await pipeline(lines, createWriteStream(file))
    await pipeline(Readable.from(['# EOF\n']), createWriteStream(file, { flags: 'a' }))
    // Blocks as long as they come to be with time; the default of two hours parses the file anew for each.
    await promisify(execFile)(
      'promtool',
      ['tsdb', 'create-blocks-from', 'openmetrics', '--quiet', '--max-block-duration=1458h', file, target],
      { maxBuffer: 2 ** 26 },
    )
    rmSync(file)
  }
}
