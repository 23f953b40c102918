import { expect, it } from 'vitest'
import { unmatchedParenthesis } from './unmatched-parenthesis.ts'

it.each([
  ['select (1', 7, '(', false],
  ['select f(a, (b)', 8, '(', false],
  ['select 1)', 8, ')', true],
  ['select [1, 2)', 12, ')', true],
  ["select '(' || (", 14, '(', false],
  ['select "(", `(`, /* ( */ $a$ ( $a$ -- (\n [', 41, '[', false],
])('finds the parenthesis without another: %s (ER-4)', (text, at, character, isClosing) => {
  expect(unmatchedParenthesis(text)).toEqual({ at, character, isClosing })
})

it('finds none where all match', () => {
  expect(unmatchedParenthesis("select f([1, {'a': (2)}]) from (select ')')")).toBeNull()
})
