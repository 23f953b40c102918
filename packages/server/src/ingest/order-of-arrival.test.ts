import { expect, it } from 'vitest'
import { createOrderOfArrival, type Turn } from './order-of-arrival.ts'

const PROJECT = 1

/** What has come true by the time that every promise had its chance. */
async function stateOf({ reached, behindRollbacks }: Turn): Promise<readonly string[]> {
  const seen: string[] = []
  void reached.then(() => seen.push('reached'))
  void behindRollbacks.then(() => seen.push('behind rollbacks'))
  await new Promise(setImmediate)
  return seen.toSorted()
}

it('a request is reached when all before it have gone in, in whatever order they do', async () => {
  const takeTurn = createOrderOfArrival()
  const first = takeTurn(PROJECT, 'batch')
  takeTurn(PROJECT, 'batch').end()
  const third = takeTurn(PROJECT, 'batch')
  expect(await stateOf(third)).toEqual(['behind rollbacks'])
  first.end()
  expect(await stateOf(third)).toEqual(['behind rollbacks', 'reached'])
})

it('nothing goes in before an earlier rollback, and a rollback after all before it (IN-3)', async () => {
  const takeTurn = createOrderOfArrival()
  const batch = takeTurn(PROJECT, 'batch')
  const rollback = takeTurn(PROJECT, 'rollback')
  const behind = takeTurn(PROJECT, 'batch')
  expect(await stateOf(rollback)).toEqual(['behind rollbacks'])
  expect(await stateOf(behind)).toEqual([])
  batch.end()
  expect(await stateOf(rollback)).toEqual(['behind rollbacks', 'reached'])
  expect(await stateOf(behind)).toEqual([])
  rollback.end()
  expect(await stateOf(behind)).toEqual(['behind rollbacks', 'reached'])
})

it('a rollback that gave up early lets nobody past the rollback before it', async () => {
  const takeTurn = createOrderOfArrival()
  const first = takeTurn(PROJECT, 'rollback')
  takeTurn(PROJECT, 'rollback').end()
  const behind = takeTurn(PROJECT, 'batch')
  expect(await stateOf(behind)).toEqual([])
  first.end()
  expect(await stateOf(behind)).toEqual(['behind rollbacks', 'reached'])
})

it('projects do not wait for each other', async () => {
  const takeTurn = createOrderOfArrival()
  takeTurn(PROJECT, 'rollback')
  expect(await stateOf(takeTurn(2, 'rollback'))).toEqual(['behind rollbacks', 'reached'])
})
