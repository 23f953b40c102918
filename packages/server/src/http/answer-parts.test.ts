import { expect, it } from 'vitest'
import { giveBackAnswerMemory } from './answer-memory.ts'
import { AnswerParts } from './answer-parts.ts'

const ROW_BYTES = 1000

function answerOf(rowCount: number, letter: string): AnswerParts {
  return new AnswerParts(Array.from({ length: rowCount }, () => Buffer.alloc(ROW_BYTES, letter)))
}

it('puts an answer together in memory that is lent again once it was sent, and not before', () => {
  const first = answerOf(300, 'a').lent()
  const second = answerOf(290, 'b').lent()
  expect(first.equals(answerOf(300, 'a').whole())).toBe(true)
  expect(second.equals(answerOf(290, 'b').whole())).toBe(true)
  giveBackAnswerMemory(first)
  expect(answerOf(310, 'c').lent().buffer).toBe(first.buffer)
})

it('gives a short answer memory of its own', () => {
  const short = answerOf(3, 'a').lent()
  giveBackAnswerMemory(short)
  answerOf(3, 'b').lent()
  expect(short.equals(answerOf(3, 'a').whole())).toBe(true)
})
