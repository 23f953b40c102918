import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { summarise, timeOnce, type Latency } from '../latency.ts'
import type { System } from './ask-systems.ts'
import type { BenchQuery } from './queries.ts'

/** How long the systems took for one query, by name. */
export interface Comparison {
  readonly query: string
  readonly clients: number
  readonly memory: 'warm' | 'cold'
  readonly systems: Readonly<Record<string, Latency>>
}

/** Asks the systems in turn, `rounds` times each, by `clients` at once. One round goes ahead of the count. */
export async function compareSystems(
  systems: readonly System[],
  query: BenchQuery,
  rounds: number,
  clients: number,
): Promise<Comparison> {
  const able = systems.filter((system) => system.can(query))
  const durations = new Map(able.map(({ name }) => [name, [] as number[]]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const system of able) {
      const took = await Promise.all(Array.from({ length: clients }, () => timeOnce(() => system.ask(query))))
      if (round > 0) durations.get(system.name)?.push(...took)
    }
  }
  const all = Array.from(durations, ([name, took]) => [name, summarise(took)] as const)
  return { query: query.name, clients, memory: 'warm', systems: Object.fromEntries(all) }
}

/** How long a small question waits for its answer while a large one is asked over and over. */
export async function compareWaiting(
  system: System,
  large: BenchQuery,
  small: BenchQuery,
  seconds: number,
): Promise<{ readonly alone: Latency; readonly beside: Latency; readonly ownDelayMs: number }> {
  const alone: number[] = []
  const beside: number[] = []
  await system.ask(small)
  for (let i = 0; i < 20; i += 1) alone.push(await timeOnce(() => system.ask(small)))
  const over = new AbortController()
  const asking = (async () => {
    while (!over.signal.aborted) await system.ask(large)
  })()
  // What this process itself was late is no fault of the system's.
  const own = monitorEventLoopDelay({ resolution: 5 })
  own.enable()
  const until = performance.now() + seconds * 1000
  while (performance.now() < until) {
    beside.push(await timeOnce(() => system.ask(small)))
    await sleep(20)
  }
  own.disable()
  over.abort()
  await asking
  return { alone: summarise(alone), beside: summarise(beside), ownDelayMs: own.max / 1e6 }
}
