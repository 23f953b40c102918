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

/** Rounds ahead of the count: what runs for the first time is compiled, and reads what later rounds find in memory. */
const ROUNDS_AHEAD = 3

/** Asks the systems in turn, `rounds` times each, by `clients` at once. */
export async function compareSystems(
  systems: readonly System[],
  query: BenchQuery,
  rounds: number,
  clients: number,
): Promise<Comparison> {
  const able = systems.filter((system) => system.can(query))
  const durations = new Map(able.map(({ name }) => [name, [] as number[]]))
  for (let round = -ROUNDS_AHEAD; round < rounds; round += 1) {
    for (const system of able) {
      const took = await Promise.all(Array.from({ length: clients }, () => timeOnce(() => system.ask(query))))
      if (round >= 0) durations.get(system.name)?.push(...took)
    }
  }
  const all = Array.from(durations, ([name, took]) => [name, summarise(took)] as const)
  return { query: query.name, clients, memory: 'warm', systems: Object.fromEntries(all) }
}
