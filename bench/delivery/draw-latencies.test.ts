import { expect, it } from 'vitest'
import { drawLatencies } from './draw-latencies.ts'

const scenario = '500 a second'
const circles = (svg: string) =>
  [...svg.matchAll(/<circle cx="([\d.]+)" [^>]*><title>(.*?)<\/title>/g)].map(
    ([, x, title]) => [Number(x), title] as const,
  )

it('draws what keeps up on an axis of powers of ten, and what does not beside it with the share that arrived', () => {
  const svg = drawLatencies([
    { contender: 'a', scenario, p99: 100, deliveredShare: 1 },
    { contender: 'b', scenario, p99: 1000, deliveredShare: 0.995 },
    { contender: 'c', scenario, p99: 10_000, deliveredShare: 1 },
    { contender: 'd', scenario, p99: 50, deliveredShare: 0.5 },
    { contender: 'e <f>', scenario, p99: null, deliveredShare: 0 },
  ])
  const drawn = circles(svg)
  expect(drawn.map(([, title]) => title)).toEqual([
    'a: 100 ms',
    'b: 1000 ms',
    'c: 10000 ms',
    'd: 50 % arrived in time',
    'e &lt;f>: 0 % arrived in time',
  ])
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = drawn.map(([x]) => x)
  expect(b - a).toBeCloseTo(c - b, 0)
  expect([d, e].every((x) => x > c)).toBe(true)
})
