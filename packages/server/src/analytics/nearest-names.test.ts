import { expect, it } from 'vitest'
import { nearestNames } from './nearest-names.ts'

it('gives the names with the fewest other letters first, and none that is quite another', () => {
  const known = ['sum', 'sumMap', 'toStartOfHour', 'toStartOfYear', 'count']
  expect(nearestNames('toStartOfHuor', known)).toEqual(['toStartOfHour', 'toStartOfYear'])
  expect(nearestNames('cuont', known)).toEqual(['count'])
  expect(nearestNames('SUMM', known)).toEqual(['sum'])
  expect(nearestNames('xyz', known)).toEqual([])
})
