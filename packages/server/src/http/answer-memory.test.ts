import { expect, it } from 'vitest'
import { giveBackAnswerMemory, ownAnswerMemory, takeAnswerMemory } from './answer-memory.ts'

const LONG = 2 ** 20

it('lends again what was given back, and nothing that is still in use', () => {
  const first = takeAnswerMemory()
  const second = takeAnswerMemory()
  expect(second.buffer).not.toBe(first.buffer)
  giveBackAnswerMemory(first.subarray(0, 10))
  giveBackAnswerMemory(first)
  const [third, fourth] = [takeAnswerMemory(), takeAnswerMemory()]
  expect(third.buffer).toBe(first.buffer)
  expect(fourth.buffer).not.toBe(first.buffer)
})

it('leaves bytes alone that are kept', () => {
  const lent = takeAnswerMemory()
  const written = lent.subarray(0, lent.write('{"results":[]}'))
  const own = ownAnswerMemory(written)
  takeAnswerMemory().fill(0x20)
  expect(Buffer.from(own).toString()).toBe('{"results":[]}')
})

it('neither copies nor takes what it did not lend', () => {
  const long = takeAnswerMemory(LONG)
  expect(long.byteLength).toBeGreaterThanOrEqual(LONG)
  expect(ownAnswerMemory(long)).toBe(long)
  giveBackAnswerMemory(long)
  expect(takeAnswerMemory(LONG).buffer).not.toBe(long.buffer)
})
