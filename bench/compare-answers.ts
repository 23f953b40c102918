/**
 * `npm run bench:answers`: tells VictoriaMetrics and Prometheus the same samples, asks all three the same questions, and
 * compares the answers point for point. Ends with 1 where answers differ whose definitions agree.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { createApi, PROJECT, type Api } from './api.ts'
import { CASES, FORMULAS, type ComparedCase } from './compare-answers/cases.ts'
import { comparedSamples, FIRST_MS, HOURS, toLines, toRecord } from './compare-answers/samples.ts'
import { ensureInstalled, startPeer, type Peer, type PeerName } from './metrics/peers.ts'
import { startService } from './service.ts'

/** Values by series and epoch second. */
type Points = ReadonlyMap<string, number>

/** How one answer compares. */
interface Comparison {
  readonly query: string
  readonly peer: PeerName
  readonly points: number
  /** Points that only one of the two has. */
  readonly missing: number
  /** The largest difference, in parts of the value. */
  readonly difference: number
  /** Why the definitions are not the same; null where they are. */
  readonly reason: string | null
}

const OUT = 'bench/results/answers.json'
const STEP_SECONDS = 600
/** From where every window has samples. */
const START_MS = FIRST_MS + 3 * 3_600_000
const END_MS = FIRST_MS + (HOURS - 3) * 3_600_000
/** Sums in another order. */
const TOLERANCE = 1e-9
const BATCH = 20_000

async function run(): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-answers-'))
  const samples = comparedSamples(1)
  const running: { stop(): Promise<void> }[] = []
  try {
    const service = await startService()
    running.push(service)
    const api = createApi(service.url, service.key)
    const [owner, name] = PROJECT.split('/')
    await api.post('/projects', { owner, name })
    for (let at = 0; at < samples.length; at += BATCH) {
      await api.post(`/ingest/${PROJECT}/batch`, { records: samples.slice(at, at + BATCH).map(toRecord) })
    }
    const victoria = await startPeer('VictoriaMetrics', join(directory, 'victoria'))
    running.push(victoria)
    await fetch(`${victoria.url}/api/v1/import/prometheus`, {
      method: 'POST',
      body: toLines(samples, 'milliseconds'),
    })
    await fetch(`${victoria.url}/internal/force_flush`)
    // Before its tool is used.
    ensureInstalled('Prometheus')
    const blocks = join(directory, 'prometheus')
    const text = join(directory, 'samples.txt')
    writeFileSync(text, `${toLines(samples, 'seconds')}# EOF\n`)
    execFileSync('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', '--quiet', text, blocks])
    const prometheus = await startPeer('Prometheus', blocks)
    running.push(prometheus)
    return report(await compareAll(api, [victoria, prometheus]))
  } finally {
    for (const each of running) await each.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function compareAll(api: Api, peers: readonly Peer[]): Promise<Comparison[]> {
  const compared: Comparison[] = []
  for (const each of CASES) {
    const ours = await askOurs(api, { queries: [each.query] })
    for (const peer of peers) {
      const expression = expressionOf(each, peer.name)
      if (expression === undefined) continue
      const reason = each.differs?.[peer.name] ?? null
      compared.push({
        query: each.name,
        reason,
        ...compare(ours, await askPeer(peer, expression)),
        peer: peer.name,
      })
    }
  }
  for (const { expression, promQl } of FORMULAS) {
    const queries = [
      { id: 'a', query: 'price', disabled: true },
      { id: 'b', query: 'supply', disabled: true },
    ]
    const ours = await askOurs(api, { queries, formulas: [{ expression }] })
    for (const peer of peers) {
      const theirs = await askPeer(peer, promQl)
      compared.push({ query: `= ${expression}`, reason: null, ...compare(ours, theirs), peer: peer.name })
    }
  }
  return compared
}

function expressionOf({ promQl, metricsQl }: ComparedCase, peer: PeerName): string | undefined {
  return peer === 'VictoriaMetrics' ? (metricsQl ?? promQl) : promQl
}

async function askOurs(api: Api, request: object): Promise<Points> {
  type Sample = {
    metric: { labels: Record<string, string> }
    values: { timestamp: string; value: number }[]
  }
  const answer = (await api.post(`/metrics/${PROJECT}/query_range`, {
    timeRange: { start: START_MS, end: END_MS, step: STEP_SECONDS },
    cachePolicy: { noCache: true },
    ...request,
  })) as { results: { error?: string; matrix?: { samples: Sample[] } }[] }
  const [result] = answer.results
  if (!result?.matrix) throw new Error(result?.error ?? 'no result')
  return new Map(
    result.matrix.samples.flatMap(({ metric, values }) =>
      values.map(({ timestamp, value }) => [pointKey(metric.labels, Number(timestamp)), value]),
    ),
  )
}

async function askPeer({ name, url }: Peer, query: string): Promise<Points> {
  const body = new URLSearchParams({
    query,
    start: String(START_MS / 1000),
    end: String(END_MS / 1000),
    step: String(STEP_SECONDS),
  })
  const response = await fetch(`${url}/api/v1/query_range`, { method: 'POST', body })
  if (!response.ok) throw new Error(`${name} refuses ${query}: ${await response.text()}`)
  const { data } = (await response.json()) as {
    data: { result: { metric: Record<string, string>; values: [number, string][] }[] }
  }
  return new Map(
    data.result.flatMap(({ metric: { __name__: _, ...labels }, values }) =>
      values
        .filter(([, value]) => Number.isFinite(Number(value)))
        .map(([second, value]) => [pointKey(labels, second), Number(value)]),
    ),
  )
}

function pointKey(labels: Readonly<Record<string, string>>, second: number): string {
  return JSON.stringify([second, Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))])
}

function compare(ours: Points, theirs: Points): Pick<Comparison, 'points' | 'missing' | 'difference'> {
  let [missing, difference] = [0, 0]
  for (const [key, value] of ours) {
    const other = theirs.get(key)
    if (other === undefined) missing += 1
    else difference = Math.max(difference, Math.abs(value - other) / Math.max(Math.abs(value), 1))
  }
  for (const key of theirs.keys()) if (!ours.has(key)) missing += 1
  return { points: ours.size, missing, difference }
}

/** Writes and prints the comparisons; true where all answers agree whose definitions do. */
function report(compared: readonly Comparison[]): boolean {
  mkdirSync(dirname(OUT), { recursive: true })
  writeFileSync(OUT, `${JSON.stringify(compared, null, 2)}\n`)
  let isGood = true
  for (const { query, peer, points, missing, difference, reason } of compared) {
    const isEqual = points > 0 && missing === 0 && difference <= TOLERANCE
    if (!isEqual && reason === null) isGood = false
    const verdict = isEqual ? 'equal' : reason === null ? 'DIFFERENT' : 'different'
    const size = `${points} points, ${missing} missing, at most ${difference.toExponential(1)} apart`
    process.stdout.write(
      `${verdict.padEnd(10)}${peer.padEnd(16)}${query.padEnd(34)}${size}${reason === null ? '' : `: ${reason}`}\n`,
    )
  }
  process.stdout.write(`\nWritten to ${OUT}\n`)
  return isGood
}

if (!(await run())) process.exitCode = 1
