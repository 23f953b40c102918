import { expect, it } from 'vitest'
import { firstArrivals, latencyOf } from './stages.ts'

it('tells where a message usually spends its time beside where the slowest hundredth does', () => {
  const usual = Array.from({ length: 99 }, (_, n) => [n, 0, 5, 6] as const)
  const slowest = [99, 0, 80, 90] as const
  const storedAt = new Map([...usual.map(([n]) => [n, 2] as const), [99, 30] as const])
  const latency = latencyOf([...usual, slowest], storedAt)
  expect(latency).toMatchObject({
    p50: 6,
    p99: 90,
    p99SinceStored: 60,
    typical: { storing: 2, waiting: 3, request: 1 },
    slowest: { storing: 30, waiting: 50, request: 10 },
  })
})

it('counts a message that is sent before whoever enqueued it hears that it is stored as stored when it was sent', () => {
  const { typical, p99SinceStored } = latencyOf([[1, 0, 4, 6]], new Map([[1, 9]]))
  expect(typical).toEqual({ storing: 4, waiting: 0, request: 2 })
  expect(p99SinceStored).toBe(0)
})

it('tells of each tenth of the run by itself', () => {
  const arrivals = Array.from({ length: 100 }, (_, n) => [n, 0, 1, n < 90 ? 2 : n] as const)
  const { tenths } = latencyOf(arrivals, new Map())
  expect(tenths.map(({ p50 }) => p50)).toEqual([2, 2, 2, 2, 2, 2, 2, 2, 2, 95])
  expect(tenths.at(-1)?.p99).toBe(99)
})

it('counts a message that comes again only where it came first', () => {
  const arrivals = [
    [1, 0, 1, 2],
    [2, 0, 1, 3],
    [1, 0, 7, 9],
  ] as const
  expect(firstArrivals(arrivals)).toEqual(arrivals.slice(0, 2))
})
