import { expect, it } from 'vitest'
import { createRecentValues } from './recent-values.ts'

it('forgets what was not used for longest when the bound is passed', () => {
  const values = createRecentValues<string>(10)
  values.put('a', 'A', 4)
  values.put('b', 'B', 4)
  expect(values.get('a')).toBe('A')
  values.put('c', 'C', 4)
  expect([values.get('a'), values.get('b'), values.get('c')]).toEqual(['A', undefined, 'C'])
})

it('counts a value that comes again once, and keeps none that is larger than all may be', () => {
  const values = createRecentValues<number>(10)
  for (let n = 0; n < 5; n++) values.put('a', n, 6)
  values.put('b', 1, 4)
  values.put('c', 1, 11)
  expect([values.get('a'), values.get('b'), values.get('c')]).toEqual([4, 1, undefined])
})
