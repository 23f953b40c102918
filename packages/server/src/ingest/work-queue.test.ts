import { expect, it } from 'vitest'
import type { Batch, Series } from './batch.ts'
import type { WaitingBatch } from './commit-batches.ts'
import { createWorkQueue, type WaitingRollback } from './work-queue.ts'

const LARGE = 1_000_000
const ignore = () => undefined

function waiting(batchId: string, bytes: number, given: Partial<Batch> = {}): WaitingBatch {
  const batch: Batch = {
    metadata: new Map(),
    recordCount: 1,
    samples: [],
    series: new Set(),
    events: new Map(),
    entities: new Map(),
    exports: [],
    ...given,
  }
  return {
    kind: 'batch',
    batchId,
    contentHash: '',
    isSameContent: () => true,
    batch,
    sent: { body: Buffer.alloc(bytes), contentType: null },
    resolve: ignore,
    reject: ignore,
  }
}

const withExports = { exports: [{} as Batch['exports'][number]] }
const withoutChain = { series: new Set([{ labels: {} } as Series]) }
const onChain = { series: new Set([{ labels: { chain: '1' } } as unknown as Series]) }
const rollback: WaitingRollback = {
  kind: 'rollback',
  order: { chain: '1', aboveBlock: 1 },
  resolve: ignore,
  reject: ignore,
}

function queueOf(...work: readonly (WaitingBatch | WaitingRollback)[]) {
  const queue = createWorkQueue(3 * LARGE)
  for (const each of work) queue.push(each)
  const names = (group: readonly WaitingBatch[]) => group.map(({ batchId }) => batchId)
  return {
    small: (running: readonly WaitingBatch[] = []) => names(queue.takeGroup('small', running)),
    large: (running: readonly WaitingBatch[] = []) => names(queue.takeGroup('large', running)),
    takeBarrier: () => queue.takeBarrier(),
  }
}

it('small batches go past large ones, and both in order of arrival', () => {
  const queue = queueOf(
    waiting('a', LARGE, onChain),
    waiting('b', 10, onChain),
    waiting('c', LARGE),
    waiting('d', 10),
  )
  expect(queue.small()).toEqual(['b', 'd'])
  expect(queue.small()).toEqual([])
  expect(queue.large()).toEqual(['a', 'c'])
})

it('a group is as large as one insert may be, and one batch passes whatever its size', () => {
  const queue = queueOf(
    ...['a', 'b', 'c', 'd'].map((id) => waiting(id, 1.2 * LARGE)),
    waiting('e', 9 * LARGE),
  )
  expect([queue.large(), queue.large(), queue.large(), queue.large()]).toEqual([
    ['a', 'b'],
    ['c', 'd'],
    ['e'],
    [],
  ])
})

it.each([
  ['exports (DL-3)', withExports],
  ['entities (IN-1)', { entities: new Map([['T', []]]) }],
  ['samples without a chain (IN-1)', withoutChain],
])('batches with %s do not overtake each other', (_, given) => {
  const first = waiting('a', LARGE, given)
  const queue = queueOf(first, waiting('b', 10, given), waiting('c', 10))
  expect(queue.small()).toEqual(['c'])
  expect(queue.large()).toEqual(['a'])
  expect(queue.small([first])).toEqual([])
  expect(queue.small([])).toEqual(['b'])
})

it('nothing goes past a rollback, which comes when it is at the head (IN-3)', () => {
  const queue = queueOf(waiting('a', 10), rollback, waiting('b', 10), waiting('c', LARGE))
  expect(queue.takeBarrier()).toBeUndefined()
  expect(queue.large()).toEqual([])
  expect(queue.small()).toEqual(['a'])
  expect(queue.takeBarrier()).toBe(rollback)
  expect([queue.large(), queue.small()]).toEqual([['c'], ['b']])
})
