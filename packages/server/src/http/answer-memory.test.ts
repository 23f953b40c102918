import { expect, it } from 'vitest'
import {
  giveBackAnswerMemory,
  handOverAnswerMemory,
  ownAnswerMemory,
  takeAnswerMemory,
  takeOverAnswerMemory,
} from './answer-memory.ts'

const LONG = 3_500_000
const TOO_LONG = 9 * 2 ** 20

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

it('lends long pieces to answers of about as many bytes, and keeps short ones for short answers', () => {
  const long = takeAnswerMemory(LONG)
  const short = takeAnswerMemory()
  giveBackAnswerMemory(long)
  giveBackAnswerMemory(short)
  expect(takeAnswerMemory().buffer).toBe(short.buffer)
  expect(takeAnswerMemory(LONG + 100_000).buffer).toBe(long.buffer)
})

it('neither copies nor takes what is too long to be lent', () => {
  const long = takeAnswerMemory(TOO_LONG)
  expect(long.byteLength).toBeGreaterThanOrEqual(TOO_LONG)
  expect(ownAnswerMemory(long)).toBe(long)
  giveBackAnswerMemory(long)
  expect(takeAnswerMemory(TOO_LONG).buffer).not.toBe(long.buffer)
})

it('hands long pieces over to other threads, and lends what comes back from them', () => {
  const { buffer } = takeAnswerMemory(LONG)
  expect(handOverAnswerMemory()).toBeUndefined()
  takeOverAnswerMemory(buffer, true)
  expect(handOverAnswerMemory()).toBeUndefined()
  giveBackAnswerMemory(new Uint8Array(buffer, 0, 10))
  expect(handOverAnswerMemory()).toBe(buffer)
  expect(handOverAnswerMemory()).toBeUndefined()
  takeOverAnswerMemory(buffer, false)
  expect(takeAnswerMemory(LONG).buffer).toBe(buffer)
})

it('keeps no more than a few pieces', () => {
  const given = Array.from({ length: 10 }, () => takeAnswerMemory(LONG))
  for (const piece of given) giveBackAnswerMemory(piece)
  const buffers = new Set(given.map(({ buffer }) => buffer))
  const again = Array.from({ length: 10 }, () => takeAnswerMemory(LONG))
  expect(again.filter(({ buffer }) => buffers.has(buffer)).length).toBe(4)
})
