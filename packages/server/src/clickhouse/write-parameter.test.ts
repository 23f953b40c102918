import { expect, it } from 'vitest'
import { writeParameter } from './write-parameter.ts'

it.each<[unknown, string]>([
  ["a\\b'c\td\ne\rf", "a\\\\b\\'c\\td\\ne\\rf"],
  [null, '\\N'],
  [true, '1'],
  [-1.5, '-1.5'],
  [Number.NaN, 'nan'],
  [-Infinity, '-inf'],
  [10n ** 30n, '1000000000000000000000000000000'],
  [["it's", null, 2, false, ['\\']], "['it\\'s',NULL,2,FALSE,['\\\\']]"],
  [{ "k'": 'v' }, "{'k\\'':'v'}"],
])('writes what the engine reads as the same value: %# (SQ-6)', (value, text) => {
  expect(writeParameter(value)).toBe(text)
})
