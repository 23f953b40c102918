/** `npm run bench:delivery`: delivery of webhooks by this service and by what a team would else build. See `--help`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { dirname } from 'node:path'
import process from 'node:process'
import { whileWatched } from '../disturbance/disturbance.ts'
import type { Contender } from './contender.ts'
import { CONTENDERS } from './contenders.ts'
import { drain } from './drain.ts'
import { drawLatencies, type LatencyResult } from './draw-latencies.ts'
import { kill } from './kill.ts'
import { openLoop } from './open-loop.ts'
import { readOptions, USAGE, type DeliveryOptions, type ScenarioName } from './options.ts'
import { outage } from './outage.ts'
import { installPeers } from './peers.ts'

/** Channels of the scenario in which some hang. */
const MANY_CHANNELS = 1000
const HANGING_RATE = 500
const PLAIN_SECONDS = 10

type Scenario = (
  contender: Contender,
  options: DeliveryOptions,
) => AsyncGenerator<readonly [title: string, result: object]>

const MEASURE: Readonly<Record<ScenarioName, Scenario>> = {
  async *drain(contender, options) {
    const { messages } = options
    for (const channels of options.channels) {
      const result = await drain(contender, { messages, channels, progress })
      yield [`drain of ${messages} over ${channels} channels`, result]
    }
  },
  async *latency(contender, { rates, latencies, seconds }) {
    for (const perSecond of rates) {
      for (const sinkLatencyMs of latencies) {
        const result = await openLoop(contender, { channels: 10, perSecond, seconds, sinkLatencyMs })
        yield [`${perSecond} a second, receiver answers after ${sinkLatencyMs} ms`, result]
      }
    }
  },
  async *hanging(contender, { seconds }) {
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
  async *outage(contender, { seconds, waiting }) {
    const options = { seconds, waiting, perSecond: 500 }
    const { result, disturbance } = await whileWatched(() => outage(contender, options))
    yield [`outage of ${seconds} s with ${waiting} waiting`, { ...result, disturbance }]
  },
  async *kill(contender, { kills }) {
    const options = { perSecond: 500, kills, patienceSeconds: 60 }
    const { result, disturbance } = await whileWatched(() => kill(contender, options))
    yield [`${kills} kills`, { ...result, disturbance }]
  },
  async *pinned(contender, { seconds }) {
    if (contender.server !== 'postgres') return
    for (const isPinned of [false, true]) {
      // What grows with a pinned snapshot shows from tenth to tenth; without one a short run tells as much.
      const options = { seconds: isPinned ? seconds : Math.min(seconds, PLAIN_SECONDS), isPinned }
      const result = await openLoop(contender, { channels: 10, perSecond: 3000, ...options })
      yield [`3000 a second, ${isPinned ? 'a' : 'no'} pinned snapshot`, result]
    }
  },
}

async function run(options: DeliveryOptions): Promise<void> {
  const contenders = CONTENDERS.filter(({ name }) => name.includes(options.contender))
  installPeers(contenders.flatMap(({ packages }) => packages))
  const results: object[] = []
  for (const name of options.scenarios) {
    for (const contender of contenders) {
      try {
        for await (const [title, result] of MEASURE[name](contender, options)) {
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
  mkdirSync(dirname(options.out), { recursive: true })
  const machine = { cpus: cpus().length, model: cpus()[0]?.model, node: process.version }
  writeFileSync(
    options.out,
    `${JSON.stringify({ at: new Date().toISOString(), machine, results }, null, 2)}\n`,
  )
  plot(results, options.out)
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

/** Latencies of results as a picture beside their file. */
function plot(results: readonly object[], out: string): void {
  const latencies = results.filter((result): result is LatencyResult => 'deliveredShare' in result)
  if (latencies.length === 0) return
  writeFileSync(out.replace(/(\.json)?$/, '.svg'), drawLatencies(latencies))
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value
}

// Servers are ended when the process exits, which it does not by itself when it is told to end.
process.once('SIGTERM', () => process.exit(143))
let options: DeliveryOptions | null = null
try {
  options = readOptions(process.argv.slice(2))
  if (options === null) process.stdout.write(`${USAGE}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}
if (options?.plot) plot(options.plot.flatMap(resultsOf), options.out)
else if (options) await run(options)
