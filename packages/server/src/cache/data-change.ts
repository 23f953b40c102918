import { getOrMake } from '../platform/get-or-make.ts'
import type { Touches } from './snapshot.ts'

/**
 * What ingest has changed of one name on one UTC day of one chain. `day` counts from 1970-01-01; the times are those of
 * the oldest and the newest record, `highestBlock` the highest block among them.
 */
export interface ChangedDay {
  readonly name: string
  readonly chain: string
  readonly day: number
  readonly oldestMicros: number
  readonly newestMicros: number
  readonly highestBlock: number
}

/** Names listed; a batch with more touches any. */
const TOUCHED_NAMES_MAX = 64

/** The span of changes, for readers who meet them half done. */
export function touchesOf(changes: readonly ChangedDay[]): Touches {
  const names = new Set<string>()
  let [fromMicros, toMicros] = [Infinity, -Infinity]
  for (const { name, oldestMicros, newestMicros } of changes) {
    names.add(name)
    if (oldestMicros < fromMicros) fromMicros = oldestMicros
    if (newestMicros > toMicros) toMicros = newestMicros
  }
  if (names.size === 0) return { names: [], fromMicros: 0, toMicros: 0 }
  return { names: names.size > TOUCHED_NAMES_MAX ? null : [...names], fromMicros, toMicros }
}

const DAY_MICROS = 86_400_000_000

/** The UTC day of a time. */
export function dayOf(micros: number): number {
  return Math.floor(micros / DAY_MICROS)
}

/** The beginning of a UTC day. */
export function startOfDayMicros(day: number): number {
  return day * DAY_MICROS
}

/** Gathers changes record by record. */
export interface ChangeCollector {
  add(name: string, chain: string, timestampMicros: number, blockNumber: number): void
  changes(): readonly ChangedDay[]
}

interface OpenChange extends ChangedDay {
  oldestMicros: number
  newestMicros: number
  highestBlock: number
}

/** The records of a name come in runs of one chain and day, so its last entry is tried first. */
export function createChangeCollector(): ChangeCollector {
  const byName = new Map<string, Map<string, Map<number, OpenChange>>>()
  const lastOf = new Map<string, OpenChange>()

  function find(name: string, chain: string, day: number): OpenChange {
    const last = lastOf.get(name)
    if (last?.day === day && last.chain === chain) return last
    const byChain = getOrMake(byName, name, () => new Map<string, Map<number, OpenChange>>())
    const byDay = getOrMake(byChain, chain, () => new Map<number, OpenChange>())
    const found = getOrMake(byDay, day, () => ({
      name,
      chain,
      day,
      oldestMicros: Infinity,
      newestMicros: -Infinity,
      highestBlock: 0,
    }))
    lastOf.set(name, found)
    return found
  }

  return {
    add: (name, chain, timestampMicros, blockNumber) => {
      const change = find(name, chain, dayOf(timestampMicros))
      if (timestampMicros < change.oldestMicros) change.oldestMicros = timestampMicros
      if (timestampMicros > change.newestMicros) change.newestMicros = timestampMicros
      if (blockNumber > change.highestBlock) change.highestBlock = blockNumber
    },
    changes: () =>
      [...byName.values()].flatMap((chains) => [...chains.values()].flatMap((days) => [...days.values()])),
  }
}
