import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../packages/server/test/support/free-port.ts'
import type { Check, Target } from './finding.ts'

const SCRAPE_SECONDS = 1
const RUN_MS = 12_000
const ARRIVAL_MS = 30_000

/** What Prometheus keeps of a series: values by milliseconds, written alike on both sides. */
type Samples = ReadonlyMap<string, string>

/** A real Prometheus (package `prometheus` of Debian) that scrapes a target and writes on: every sample it keeps must be with us, and no other. */
export const checkPrometheus: Check = async (target) => {
  const project = await target.createProject('prometheus')
  const directory = mkdtempSync(join(tmpdir(), 'millrace-prometheus-'))
  const scraped = await startTarget()
  const port = await freePort()
  const config = join(directory, 'prometheus.yml')
  writeFileSync(config, configOf(target, project, scraped.port))
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const closed = once(child, 'close')
  try {
    await once(child, 'spawn').catch(() => {
      throw new Error('prometheus is not installed: apt-get install prometheus')
    })
    await sleep(RUN_MS)
    const until = Date.now() - 2 * SCRAPE_SECONDS * 1000
    const kept = await keptBy(`http://127.0.0.1:${port}`, until)
    const names = new Set([...kept.keys()].map((series) => (JSON.parse(series) as [string])[0]))
    const deadline = Date.now() + ARRIVAL_MS
    let stored = await storedBy(target, project, names, until)
    while (countOf(stored) < countOf(kept) && Date.now() < deadline) {
      await sleep(500)
      stored = await storedBy(target, project, names, until)
    }
    const differing = [...kept].filter(([series, samples]) => !isSame(samples, stored.get(series)))
    return [
      {
        what: 'metrics',
        sent: String(names.size),
        stored: String(new Set([...stored.keys()].map((key) => (JSON.parse(key) as [string])[0])).size),
      },
      { what: 'series', sent: String(kept.size), stored: String(stored.size) },
      { what: 'samples', sent: String(countOf(kept)), stored: String(countOf(stored)) },
      {
        what: 'series with another time or value',
        sent: 'none',
        stored:
          differing.length === 0
            ? 'none'
            : differing
                .slice(0, 3)
                .map(([series]) => series)
                .join(),
      },
    ]
  } finally {
    child.kill('SIGTERM')
    await closed
    scraped.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

function configOf({ url, key }: Target, project: string, port: number): string {
  return prometheusConfig(`${url}/api/v1/prometheus/${project}/write`, key, port)
}

/** The configuration of a Prometheus that scrapes a port of this machine and writes on to an address. */
export function prometheusConfig(writeUrl: string, key: string, port: number): string {
  return JSON.stringify({
    global: { scrape_interval: `${SCRAPE_SECONDS}s` },
    scrape_configs: [{ job_name: 'sample', static_configs: [{ targets: [`127.0.0.1:${port}`] }] }],
    remote_write: [
      {
        url: writeUrl,
        authorization: { credentials: key },
        queue_config: { batch_send_deadline: '1s' },
      },
    ],
  })
}

/** A program with metrics of every kind, whose values move with each scrape. */
export async function startTarget(loadSeries = 200): Promise<{ readonly port: number; stop(): void }> {
  let scrapes = 0
  const server = createServer((_request, response) => {
    scrapes += 1
    const series = Array.from({ length: loadSeries }, (_, i) => `load{unit="u${i}"} ${scrapes * i + 0.1}`)
    response
      .writeHead(200, { 'content-type': 'text/plain; version=0.0.4' })
      .end(
        [
          '# TYPE sample_requests_total counter',
          `sample_requests_total{path="/a \\"quoted\\" \\\\ path",method="GET"} ${scrapes * 3}`,
          `sample_requests_total{path="/日本語",method="POST"} ${9_007_199_254_740_992 + scrapes * 2}`,
          '# TYPE sample_temperature gauge',
          `sample_temperature ${-1.5e-300 * scrapes}`,
          '# TYPE sample_latency histogram',
          `sample_latency_bucket{le="0.1"} ${scrapes}`,
          `sample_latency_bucket{le="+Inf"} ${scrapes * 2}`,
          `sample_latency_sum ${scrapes / 3}`,
          `sample_latency_count ${scrapes * 2}`,
          ...series,
          '',
        ].join('\n'),
      )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => server.close(),
  }
}

async function keptBy(url: string, untilMs: number): Promise<ReadonlyMap<string, Samples>> {
  const query = encodeURIComponent('{job="sample"}[1h]')
  const answer = await fetch(`${url}/api/v1/query?query=${query}&time=${untilMs / 1000}`)
  const { data } = (await answer.json()) as {
    readonly data: {
      readonly result: readonly {
        readonly metric: Readonly<Record<string, string>>
        readonly values: readonly (readonly [number, string])[]
      }[]
    }
  }
  return new Map(
    data.result.map(({ metric: { __name__: name = '', ...labels }, values }) => [
      seriesOf(name, labels),
      new Map(values.map(([seconds, value]) => [String(Math.round(seconds * 1000)), String(Number(value))])),
    ]),
  )
}

async function storedBy(
  target: Target,
  project: string,
  names: ReadonlySet<string>,
  untilMs: number,
): Promise<ReadonlyMap<string, Samples>> {
  const stored = new Map<string, Map<string, string>>()
  for (const name of names) {
    const rows = await target
      .sql(
        project,
        `select labels, toUnixTimestamp64Milli(timestamp) as ms, value from \`${name}\` where ms <= ${untilMs}`,
      )
      .catch(() => [])
    for (const { labels, ms, value } of rows) {
      const series = seriesOf(name, labels as Readonly<Record<string, string>>)
      const samples = stored.get(series) ?? new Map<string, string>()
      samples.set(String(ms), String(Number(value)))
      stored.set(series, samples)
    }
  }
  return stored
}

function seriesOf(name: string, labels: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(labels).filter(([, value]) => value !== '')
  return JSON.stringify([name, ...sorted.toSorted(([a], [b]) => (a < b ? -1 : 1))])
}

function countOf(series: ReadonlyMap<string, Samples>): number {
  return [...series.values()].reduce((sum, { size }) => sum + size, 0)
}

function isSame(left: Samples, right: Samples | undefined): boolean {
  return left.size === right?.size && [...left].every(([ms, value]) => right.get(ms) === value)
}
