import { describe, expect, it } from 'vitest'
import type { KnownBlocks } from '../../src/demo/chain-block.ts'
import { simulatedBlocks } from '../../src/demo/simulated-blocks.ts'
import { SIMULATED_CHAIN, simulatedBlock } from '../../src/demo/simulated-chain.ts'
import { applySteps, takeUntil } from './gather-steps.ts'

const START_MS = Date.UTC(2026, 0, 15, 12, 0, 3)

/** A simulation on a clock that only its own waiting moves. */
function simulate(known: KnownBlocks = new Map(), startMs = START_MS) {
  let nowMs = startMs
  return simulatedBlocks({
    seed: 'test',
    known,
    now: () => nowMs,
    waitUntil: async (timeMs) => {
      nowMs = Math.max(nowMs, timeMs)
    },
  })
}
const isCurrent = ({ kind }: { kind: string }) => kind === 'current'

describe('the simulated chain', () => {
  it('covers 30 days up to now with ascending blocks, mints, burns, transfers and swaps', async () => {
    const blocks = applySteps(await takeUntil(simulate(), isCurrent))
    expect(blocks.length).toBeGreaterThan(4000)
    expect((blocks[0]?.timeSeconds ?? 0) * 1000).toBeLessThan(START_MS - 29.9 * 86_400_000)
    expect((blocks.at(-1)?.timeSeconds ?? 0) * 1000).toBeGreaterThan(START_MS - 5000)
    const numbers = blocks.map(({ number }) => number)
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    expect(new Set(numbers).size).toBe(numbers.length)
    const kinds = blocks.flatMap(({ events }) => events.map(({ kind }) => kind))
    expect(kinds.filter((kind) => kind === 'transfer').length).toBeGreaterThan(20_000)
    expect(kinds.filter((kind) => kind === 'swap').length).toBeGreaterThan(2000)
  })

  it('gives equal blocks for equal seed and time, and others for another fork', () => {
    expect(simulatedBlock('test', 120_000)).toEqual(simulatedBlock('test', 120_000))
    expect(simulatedBlock('test', 120_000, 1).hash).not.toBe(simulatedBlock('test', 120_000).hash)
    expect(simulatedBlock('other', 120_000).hash).not.toBe(simulatedBlock('test', 120_000).hash)
  })

  it('goes on live block by block, with reorganisations that replace blocks by others (IN-3)', async () => {
    const endMs = START_MS + 2 * 3_600_000
    const steps = await takeUntil(
      simulate(),
      (step) => step.kind === 'block' && step.block.timeSeconds * 1000 >= endMs,
    )
    const live = steps.slice(steps.findIndex(isCurrent))
    const rollbacks = live.filter(({ kind }) => kind === 'rollback')
    expect(rollbacks.length).toBeGreaterThan(10)
    const numbers = applySteps(steps).map(({ number }) => number)
    expect(new Set(numbers).size).toBe(numbers.length)
    const [first] = rollbacks
    const index = live.findIndex((step) => step === first)
    const before = applySteps(live.slice(0, index)).at(-1)
    const after = applySteps(live.slice(0, index + 4)).find(({ number }) => number === before?.number)
    expect(after?.hash).not.toBe(before?.hash)
  })

  it('resumes behind the last block that the service has, and recreates none (second start)', async () => {
    const all = applySteps(await takeUntil(simulate(), isCurrent))
    const last = all.at(-1)
    const known: KnownBlocks = new Map([[SIMULATED_CHAIN, [{ number: last?.number ?? 0, hash: '' }]]])
    const again = applySteps(await takeUntil(simulate(known), isCurrent))
    expect(again).toEqual([])
    const later = applySteps(await takeUntil(simulate(known, START_MS + 86_400_000), isCurrent))
    expect(later[0]?.number).toBeGreaterThan(last?.number ?? 0)
    expect(later.length).toBeGreaterThan(200)
    expect(later.length).toBeLessThan(400)
  })
})
