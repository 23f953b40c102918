/** `npm run bench:metrics`: range queries beside VictoriaMetrics and Prometheus on the same samples. See `--help`. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { summarise, timeOnce } from '../latency.ts'
import { startService } from '../service.ts'
import { checkAgreement } from './agree.ts'
import { millrace, peerSystem, type System } from './ask-systems.ts'
import { compareSystems, type Comparison } from './compare.ts'
import { formatCurves, measureCurves } from './curves.ts'
import { benchMetrics } from './data-set.ts'
import { drawCurves } from './draw-curves.ts'
import { measureDisk } from './disk.ts'
import { measureLive } from './live.ts'
import { loadPeer } from './load-peers.ts'
import { factsDatabase, loadCurves, loadService, withEngine } from './load-service.ts'
import { measureWaiting } from './measure-waiting.ts'
import { readOptions, USAGE, type MetricsBenchOptions } from './options.ts'
import { startPeer } from './peers.ts'
import { BENCH_QUERIES, type BenchQuery } from './queries.ts'
import { formatComparisons } from './report.ts'

const CLIENTS = 8
const COLD_ROUNDS = 3
/** Phases that start what they measure themselves. */
const APART: ReadonlySet<string> = new Set(['disk', 'cold', 'loop', 'live'])

type Results = Record<string, unknown> & { comparisons?: readonly Comparison[] }

async function run(options: MetricsBenchOptions): Promise<void> {
  const directory = resolve(options.data)
  if (options.phases.includes('live')) {
    const live = await measureLive(options.peers, progress)
    save(options, { live })
    process.stdout.write(`${JSON.stringify(live, null, 2)}\n`)
  }
  if (options.phases.every((phase) => phase === 'live')) return
  const metrics = benchMetrics(options.scale)
  await loadService(directory, metrics, progress)
  for (const name of options.peers) await loadPeer(name, directory, metrics, progress)
  if (options.phases.includes('curves')) await loadCurves(directory, options.scale, progress)
  const wanted = BENCH_QUERIES.filter(
    ({ name }) =>
      options.queries.length === 0 || options.queries.some((start) => name.startsWith(`${start} `)),
  )
  if (options.phases.includes('disk')) {
    const disk = await withEngine(directory, async (engine) =>
      measureDisk(engine, await factsDatabase(engine)),
    )
    save(options, { disk })
    process.stdout.write(`${JSON.stringify(disk, null, 2)}\n`)
  }
  if (options.phases.includes('cold')) await measureCold(options, directory, wanted)
  if (options.phases.includes('loop')) await measureLoop(options, directory)
  if (options.phases.some((phase) => !APART.has(phase))) {
    await measureRunning(options, directory, wanted)
  }
}

/** Each first question after a start: nothing is in memory, but the operating system has the files. */
async function measureCold(
  options: MetricsBenchOptions,
  directory: string,
  queries: readonly BenchQuery[],
): Promise<void> {
  const comparisons: Comparison[] = []
  for (const query of queries) {
    const durations: number[] = []
    for (let round = 0; round < COLD_ROUNDS; round += 1) {
      const service = await startService(join(directory, 'data'))
      const system = millrace(service)
      try {
        durations.push(await timeOnce(() => system.ask(query)))
      } finally {
        await service.stop()
      }
    }
    progress(`cold: ${query.name}`)
    comparisons.push({
      query: query.name,
      clients: 1,
      memory: 'cold',
      systems: { Millrace: summarise(durations) },
    })
  }
  save(options, { comparisons })
}

/** How long the service's event loop is held, and small questions wait, beside long ones. */
async function measureLoop(options: MetricsBenchOptions, directory: string): Promise<void> {
  const loop = await measureWaiting(join(directory, 'data'))
  save(options, { loop })
  process.stdout.write(`${JSON.stringify(loop, null, 2)}\n`)
}

async function measureRunning(
  options: MetricsBenchOptions,
  directory: string,
  queries: readonly BenchQuery[],
): Promise<void> {
  const service = await startService(join(directory, 'data'))
  const peers = []
  try {
    for (const name of options.peers) peers.push(await startPeer(name, join(directory, name)))
    const ours = millrace(service)
    const systems: readonly System[] = [ours, ...peers.map(peerSystem)]
    if (options.phases.includes('agree')) await agree(options, systems, queries)
    for (const [phase, clients, rounds] of [
      ['warm', 1, options.rounds],
      ['clients', CLIENTS, Math.max(1, Math.round(options.rounds / 4))],
    ] as const) {
      if (!options.phases.includes(phase)) continue
      const comparisons: Comparison[] = []
      for (const query of queries) {
        progress(`${clients} clients: ${query.name}`)
        comparisons.push(await compareSystems(systems, query, rounds, clients))
      }
      save(options, { comparisons })
    }
    if (options.phases.includes('curves')) {
      const curves = await measureCurves(ours, options.rounds, progress)
      save(options, { curves })
      writeFileSync(join(dirname(options.out), 'metrics-curves.svg'), drawCurves(curves))
      process.stdout.write(`${formatCurves(curves)}\n`)
    }
  } finally {
    for (const peer of peers) await peer.stop()
    await service.stop()
  }
}

async function agree(
  options: MetricsBenchOptions,
  [ours, ...peers]: readonly System[],
  queries: readonly BenchQuery[],
): Promise<void> {
  const agreed: Record<string, number> = {}
  for (const peer of peers) {
    for (const query of queries) {
      const isComparable = peer.name === 'VictoriaMetrics' || query.isPromQlExact
      if (!ours || !peer.can(query) || !isComparable) continue
      progress(`agreement with ${peer.name}: ${query.name}`)
      agreed[`${peer.name} ${query.name}`] = await checkAgreement(ours, peer, query)
    }
  }
  save(options, { agreedPoints: agreed })
  process.stdout.write(`${JSON.stringify(agreed, null, 2)}\n`)
}

/** Adds to the results of earlier runs on the same file, so that phases can be run one by one. */
function save(options: MetricsBenchOptions, added: Results): void {
  const known = existsSync(options.out) ? (JSON.parse(readFileSync(options.out, 'utf8')) as Results) : {}
  const fresh = new Set(added.comparisons?.map(idOf))
  const comparisons = [
    ...(known.comparisons ?? []).filter((each) => !fresh.has(idOf(each))),
    ...(added.comparisons ?? []),
  ]
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism(), node: process.version }
  const results = { ...known, ...added, machine, scale: options.scale, comparisons }
  mkdirSync(dirname(options.out), { recursive: true })
  writeFileSync(options.out, `${JSON.stringify(results, null, 2)}\n`)
  if (added.comparisons) process.stdout.write(`${formatComparisons(comparisons)}\n`)
}

function idOf({ query, clients, memory }: Comparison): string {
  return `${query} ${clients} ${memory}`
}

function progress(text: string): void {
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
