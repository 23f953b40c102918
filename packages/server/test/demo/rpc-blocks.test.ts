import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KnownBlocks, Step } from '../../src/demo/chain-block.ts'
import { rpcBlocks } from '../../src/demo/rpc-blocks.ts'
import { startFakeNode } from './fake-node.ts'
import { applySteps, takeUntil } from './gather-steps.ts'

const CONTRACT = `0x${'c'.repeat(40)}`
let node: Awaited<ReturnType<typeof startFakeNode>>
let troubles: string[]
beforeEach(async () => {
  node = await startFakeNode(CONTRACT)
  troubles = []
})
afterEach(() => node.stop())

const isCurrent = ({ kind }: Step) => kind === 'current'
const values = (steps: readonly Step[]) =>
  applySteps(steps).map(({ number, events }) => [
    number,
    events[0]?.kind === 'transfer' ? events[0].value : null,
  ])

function follow(more: { known?: KnownBlocks; startBlock?: number; onWait?: () => void } = {}) {
  return rpcBlocks({
    url: node.url,
    contract: CONTRACT,
    startBlock: more.startBlock ?? 0,
    known: more.known ?? new Map(),
    pollMs: 1,
    wait: async () => more.onWait?.(),
    onTrouble: (message) => troubles.push(message),
  })
}

describe('following a contract through a node', () => {
  it('reads the transfers from the start block to the head, and those of new blocks', async () => {
    node.grow(500, { 3: 30n, 7: 70n, 400: 4000n })
    const steps = await takeUntil(
      follow({ startBlock: 5, onWait: () => node.grow(501, { 501: 5n }) }),
      (step) => step.kind === 'block' && step.block.number === 501,
    )
    expect(values(steps)).toEqual([
      [7, 70n],
      [400, 4000n],
      [501, 5n],
    ])
    expect(applySteps(steps)[0]).toMatchObject({
      chain: '5',
      hash: node.hashOf(7),
      timeSeconds: 1_700_000_084,
    })
    expect(steps.filter(isCurrent).length).toBe(1)
  })

  it('rolls back to the last common block when the hashes differ, then reads the other branch (IN-3)', async () => {
    node.grow(20, { 5: 50n, 18: 180n, 19: 190n })
    const before = node.hashOf(18)
    const reorganise = () => {
      node.reorganise(17, 'other branch')
      node.grow(21, { 18: 181n })
    }
    const steps = await takeUntil(
      follow({ onWait: reorganise }),
      (step) => step.kind === 'block' && step.block.number === 18 && step.block.hash !== before,
    )
    expect(steps.find(({ kind }) => kind === 'rollback')).toEqual({
      kind: 'rollback',
      chain: '5',
      blockNumber: 5,
    })
    expect(values(steps)).toEqual([
      [5, 50n],
      [18, 181n],
    ])
  })

  it('notices on resuming that the chain was reorganised meanwhile (IN-3)', async () => {
    node.grow(20, { 5: 50n, 19: 190n })
    const known = new Map([
      [
        '5',
        [
          { number: 18, hash: '0xgone' },
          { number: 5, hash: node.hashOf(5) },
        ],
      ],
    ])
    const steps = await takeUntil(follow({ known }), isCurrent)
    expect(steps[0]).toEqual({ kind: 'rollback', chain: '5', blockNumber: 5 })
    expect(values(steps)).toEqual([[19, 190n]])
  })

  it('resumes behind the last block that the service has', async () => {
    node.grow(20, { 5: 50n, 19: 190n })
    const known = new Map([['5', [{ number: 5, hash: node.hashOf(5) }]]])
    expect(values(await takeUntil(follow({ known }), isCurrent))).toEqual([[19, 190n]])
  })

  it('asks for smaller ranges when the node refuses large ones', async () => {
    node.grow(300, { 5: 50n, 299: 1n })
    node.limitLogs(20)
    expect(values(await takeUntil(follow(), isCurrent))).toEqual([
      [5, 50n],
      [299, 1n],
    ])
    expect(troubles.length).toBeGreaterThan(0)
  })
})
