import type { KnownBlocks, Step } from './chain-block.ts'
import {
  HISTORY_SLOTS,
  reorganisationDepth,
  SIMULATED_CHAIN,
  simulatedBlock,
  SLOT_SECONDS,
} from './simulated-chain.ts'

interface SimulationOptions {
  readonly seed: string
  readonly known: KnownBlocks
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves at the time given, in milliseconds since 1970. */
  waitUntil(timeMs: number): Promise<void>
}

const HISTORY_SECONDS = 30 * 86_400
/** The latest past has every block, so that short ranges show something too. */
const DENSE_SLOTS = 120

/**
 * A token and a swap pool over the last 30 days, and on from there for ever, with a reorganisation now and then.
 * Numbers and contents of blocks depend on the seed and the time alone, so a later run goes on where one ended.
 */
export async function* simulatedBlocks(options: SimulationOptions): AsyncGenerator<Step> {
  const { seed, known } = options
  const currentSlot = () => Math.floor(options.now() / 1000 / SLOT_SECONDS)
  const last = known.get(SIMULATED_CHAIN)?.[0]?.number ?? 0

  const first = Math.max(last + 1, currentSlot() - HISTORY_SECONDS / SLOT_SECONDS)
  const past = pastSlots(first, currentSlot())
  for (const [index, number] of past.entries()) {
    yield { kind: 'block', block: simulatedBlock(seed, number) }
    if (index % 500 === 499) yield { kind: 'progress', done: index + 1, total: past.length }
  }
  yield { kind: 'progress', done: past.length, total: past.length }
  yield { kind: 'current' }

  for (let number = Math.max(last, past.at(-1) ?? 0) + 1; ; number++) {
    await options.waitUntil(number * SLOT_SECONDS * 1000)
    yield { kind: 'block', block: simulatedBlock(seed, number) }
    const depth = reorganisationDepth(seed, number)
    if (depth > 0) {
      yield { kind: 'rollback', chain: SIMULATED_CHAIN, blockNumber: number - depth }
      for (let replaced = number - depth + 1; replaced <= number; replaced++) {
        yield { kind: 'block', block: simulatedBlock(seed, replaced, 1) }
      }
    }
  }
}

function pastSlots(first: number, current: number): readonly number[] {
  const dense = Math.max(first, current - DENSE_SLOTS)
  const slots: number[] = []
  for (let slot = Math.ceil(first / HISTORY_SLOTS) * HISTORY_SLOTS; slot < dense; slot += HISTORY_SLOTS) {
    slots.push(slot)
  }
  for (let slot = dense; slot <= current; slot++) slots.push(slot)
  return slots
}
