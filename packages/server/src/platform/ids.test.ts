import { expect, it } from 'vitest'
import { randomId } from './ids.ts'

it('makes ids of the asked length that do not come twice', () => {
  // More than one filling of the pool of random bytes.
  const ids = Array.from({ length: 2000 }, () => randomId())
  expect(new Set(ids).size).toBe(2000)
  for (const id of ids) expect(id).toMatch(/^[0-9A-HJKMNP-Za-kmnp-z]{22}$/)
  expect(randomId(8)).toHaveLength(8)
  expect(randomId(5000)).toHaveLength(5000)
})
