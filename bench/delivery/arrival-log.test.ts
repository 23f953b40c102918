import { expect, it } from 'vitest'
import { createArrivalLog } from './arrival-log.ts'

it('lists arrivals in their order, however many, and none after it was cleared', () => {
  const log = createArrivalLog()
  const arrivals = Array.from({ length: 40_000 }, (_, n) => [n, n + 0.25, n + 0.5, n + 0.75] as const)
  for (const arrival of arrivals) log.add(...arrival)
  expect(log.list()).toEqual(arrivals)
  log.clear()
  log.add(7, 1, 2, 3)
  expect(log.list()).toEqual([[7, 1, 2, 3]])
})
