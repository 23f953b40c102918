import { expect, it } from 'vitest'
import { missing } from './kill.ts'

it('counts what was accepted and never came, whatever else came', () => {
  expect(
    missing(
      [1, 2, 3],
      [
        [2, 0, 1, 2],
        [2, 0, 1, 3],
        [7, 0, 1, 2],
        [8, 0, 1, 2],
      ],
    ),
  ).toBe(2)
})
