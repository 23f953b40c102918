import { expect, it } from 'vitest'
import { createExecutionGate } from './execution-gate.ts'

const signal = new AbortController().signal
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

it('lets a project that waits alone pass those of a project that came before it (SQ-7)', async () => {
  const gate = createExecutionGate({ runningMax: 2, projectRunningMax: 2, projectQueueMax: 100 })
  const order: string[] = []
  const heavy = await gate.enter(1, signal)
  await gate.enter(1, signal)
  for (let n = 0; n < 50; n++) void gate.enter(1, signal).then(() => order.push('heavy'))
  void gate.enter(2, signal).then(() => order.push('light'))
  expect(gate.queueLength(1)).toBe(50)
  heavy()
  await settled()
  expect(order).toEqual(['heavy'])
  // A second end of the same statement frees nothing.
  heavy()
  await settled()
  expect(order).toEqual(['heavy'])
})

it('keeps a place for others where a project may not take all (SQ-7)', async () => {
  const gate = createExecutionGate({ runningMax: 3, projectRunningMax: 2, projectQueueMax: 100 })
  await gate.enter(1, signal)
  const leave = await gate.enter(1, signal)
  let hasThird = false
  void gate.enter(1, signal).then(() => (hasThird = true))
  const light = await gate.enter(2, signal)
  light()
  await settled()
  expect(hasThird).toBe(false)
  leave()
  await settled()
  expect(hasThird).toBe(true)
})

it('takes the projects in turn (SQ-7)', async () => {
  const gate = createExecutionGate({ runningMax: 1, projectRunningMax: 1, projectQueueMax: 100 })
  const order: number[] = []
  const first = await gate.enter(9, signal)
  const all = [1, 1, 1, 2, 2, 3].map(async (projectId) => {
    const leave = await gate.enter(projectId, signal)
    order.push(projectId)
    leave()
  })
  first()
  await Promise.all(all)
  expect(order).toEqual([1, 2, 3, 1, 2, 1])
})

it('refuses more than may wait, naming the limit, and forgets who went away (SQ-7)', async () => {
  const gate = createExecutionGate({ runningMax: 1, projectRunningMax: 1, projectQueueMax: 1 })
  const leave = await gate.enter(1, signal)
  const caller = new AbortController()
  const waiting = gate.enter(1, caller.signal)
  await expect(gate.enter(1, signal)).rejects.toThrow('at most 1 may wait')
  caller.abort()
  await expect(waiting).rejects.toThrow('cancelled')
  expect(gate.queueLength(1)).toBe(0)
  leave()
  ;(await gate.enter(1, signal))()
})
