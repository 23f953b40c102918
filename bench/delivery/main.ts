/** `npm run bench:delivery`: delivery of webhooks by this service and by what a team would else build. See `--help`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { dirname } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { whileWatched } from '../disturbance/disturbance.ts'
import type { Contender } from './contender.ts'
import { CONTENDERS } from './contenders.ts'
import { drain } from './drain.ts'
import { drawLatencies, type LatencyResult } from './draw-latencies.ts'
import { kill } from './kill.ts'
import { openLoop } from './open-loop.ts'
import { outage } from './outage.ts'
import { installPeers } from './peers.ts'

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', default: 'drain,latency,hanging,outage,kill' },
    contender: { type: 'string', default: '' },
    messages: { type: 'string', default: '100000' },
    channels: { type: 'string', default: '10,1000' },
    rates: { type: 'string', default: '500,3000' },
    latencies: { type: 'string', default: '0,50,250' },
    seconds: { type: 'string', default: '10' },
    waiting: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '4' },
    out: { type: 'string', default: 'bench/results/delivery.json' },
    plot: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
})

const USAGE = `npm run bench:delivery -- [options]

  --scenario LIST   of drain, latency, hanging, outage, kill, pinned
  --contender TEXT  only those whose name contains it: ${CONTENDERS.map(({ name }) => name).join('; ')}
  --messages N      to drain (100000)
  --channels LIST   to drain over (10,1000)
  --rates LIST      messages a second of the open loop (500,3000)
  --latencies LIST  milliseconds until the receiver answers (0,50,250)
  --seconds N       of each open loop, of the outage and of the pinned snapshot (10)
  --waiting N       messages that gather in the outage (10000)
  --kills N         (4)
  --out FILE        default bench/results/delivery.json; latencies are drawn beside it, as .svg
  --plot LIST       measures nothing, and draws the latencies of such files

Needs the PostgreSQL and, for BullMQ, the Redis of the system; npm packages of peers are installed into bench/.peers.`

const numbers = (text: string): readonly number[] => text.split(',').map(Number)
const count = Number(values.messages)
const seconds = Number(values.seconds)
/** Channels of the scenario in which some hang. */
const MANY_CHANNELS = 1000
const HANGING_RATE = 500
const PLAIN_SECONDS = 10

type Scenario = (contender: Contender) => AsyncGenerator<readonly [string, object]>

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  async *drain(contender) {
    for (const channels of numbers(values.channels)) {
      const result = await drain(contender, { messages: count, channels, progress })
      yield [`drain of ${count} over ${channels} channels`, result]
    }
  },
  async *latency(contender) {
    for (const perSecond of numbers(values.rates)) {
      for (const sinkLatencyMs of numbers(values.latencies)) {
        const result = await openLoop(contender, { channels: 10, perSecond, seconds, sinkLatencyMs })
        yield [`${perSecond} a second, receiver answers after ${sinkLatencyMs} ms`, result]
      }
    }
  },
  async *hanging(contender) {
    for (const share of [0, 0.05, 0.2]) {
      const hanging = MANY_CHANNELS * share
      const result = await openLoop(contender, {
        channels: MANY_CHANNELS,
        perSecond: HANGING_RATE,
        seconds,
        hanging,
      })
      yield [`${HANGING_RATE} a second over ${MANY_CHANNELS} channels, ${hanging} hang`, result]
    }
  },
  async *outage(contender) {
    const options = { seconds, waiting: Number(values.waiting), perSecond: 500 }
    const { result, disturbance } = await whileWatched(() => outage(contender, options))
    yield [`outage of ${seconds} s with ${values.waiting} waiting`, { ...result, disturbance }]
  },
  async *kill(contender) {
    const kills = Number(values.kills)
    const options = { perSecond: 500, kills, patienceSeconds: 60 }
    const { result, disturbance } = await whileWatched(() => kill(contender, options))
    yield [`${kills} kills`, { ...result, disturbance }]
  },
  async *pinned(contender) {
    if (contender.server !== 'postgres') return
    for (const isPinned of [false, true]) {
      // What grows with a pinned snapshot shows from tenth to tenth; without one a short run tells as much.
      const options = { seconds: isPinned ? seconds : Math.min(seconds, PLAIN_SECONDS), isPinned }
      const result = await openLoop(contender, { channels: 10, perSecond: 3000, ...options })
      yield [`3000 a second, ${isPinned ? 'a' : 'no'} pinned snapshot`, result]
    }
  },
}

async function run(): Promise<void> {
  const contenders = CONTENDERS.filter(({ name }) => name.includes(values.contender))
  installPeers(contenders.flatMap(({ packages }) => packages))
  const results: object[] = []
  for (const name of values.scenario.split(',')) {
    const scenario = SCENARIOS[name]
    if (scenario === undefined) throw new Error(`--scenario: no "${name}"; ${USAGE}`)
    for (const contender of contenders) {
      try {
        for await (const [title, result] of scenario(contender)) {
          results.push({ contender: contender.name, scenario: title, ...result })
          process.stdout.write(`${contender.name}, ${title}: ${JSON.stringify(result, rounded)}\n`)
        }
      } catch (error) {
        const failure = error instanceof Error ? error.message : String(error)
        results.push({ contender: contender.name, scenario: name, failure })
        process.stdout.write(`${contender.name}, ${name}: FAILED: ${failure}\n`)
      }
    }
  }
  mkdirSync(dirname(values.out), { recursive: true })
  const machine = { cpus: cpus().length, model: cpus()[0]?.model, node: process.version }
  writeFileSync(
    values.out,
    `${JSON.stringify({ at: new Date().toISOString(), machine, results }, null, 2)}\n`,
  )
  plot(results)
}

const PROGRESS_EVERY_MS = 2000
let shownAt = Number.NEGATIVE_INFINITY

function progress(text: string): void {
  if (performance.now() - shownAt < PROGRESS_EVERY_MS) return
  shownAt = performance.now()
  process.stderr.write(`${text}\n`)
}

function resultsOf(file: string): readonly object[] {
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly results: readonly object[] }).results
}

/** Latencies of results as a picture beside them. */
function plot(results: readonly object[]): void {
  const latencies = results.filter((result): result is LatencyResult => 'deliveredShare' in result)
  if (latencies.length === 0) return
  writeFileSync(values.out.replace(/(\.json)?$/, '.svg'), drawLatencies(latencies))
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value
}

// Servers are ended when the process exits, which it does not by itself when it is told to end.
process.once('SIGTERM', () => process.exit(143))
if (values.help) process.stdout.write(`${USAGE}\n`)
else if (values.plot === undefined) await run()
else plot(values.plot.split(',').flatMap(resultsOf))
