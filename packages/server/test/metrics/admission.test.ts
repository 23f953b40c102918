import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { noCache, rangeQueries } from './range-queries.ts'
import { storeSamples, testProject } from './samples.ts'

const NOW = Date.UTC(2026, 5, 2)
const SERIES = 20

describe('the size of a query', () => {
  const project = testProject(1)
  let test: TestEngine

  beforeAll(async () => {
    test = await startTestEngine()
    await storeSamples(
      test.engine,
      project.id,
      Array.from({ length: SERIES }, (_, index) => ({
        metric: 'price',
        type: 'gauge' as const,
        labels: { pool: String(index) },
        value: index,
        ordinal: 1,
        blockNumber: 1,
        timestampMicros: (NOW - 3_600_000) * 1000,
      })),
    )
  })
  afterAll(() => test.stop())

  it('is bounded before it runs: the error tells the number and a step that would do (ER-3)', async () => {
    const query = rangeQueries(test.engine, project, NOW, noCache(NOW), { maxNumbers: 4000 })
    const ask = async (step: number) => {
      const timeRange = { start: 'now-1d', end: 'now', step }
      return (await query({ timeRange, queries: [{ query: 'price' }] })).results[0]
    }
    const refused = await ask(300)
    const [, numbers, step] =
      /are (\d+) numbers.*; a step of (\d+) seconds would do$/.exec(refused?.error ?? '') ?? []
    expect(Number(numbers)).toBeGreaterThan(4000)
    expect((await ask(Number(step)))?.totalSeries).toBe(SERIES)
  })

  it('is bounded by its samples where all are needed: the error tells about how many they are (ER-3)', async () => {
    const functions = [
      {
        name: 'quantile_over_time',
        arguments: [{ doubleValue: 0.5 }, { durationValue: { value: 2, unit: 'h' } }],
      },
    ]
    const ask = async (maxSamples: number) => {
      const query = rangeQueries(test.engine, project, NOW, noCache(NOW), { maxSamples })
      const timeRange = { start: 'now-1d', end: 'now', step: 3600 }
      return (await query({ timeRange, queries: [{ query: 'price', functions }] })).results[0]
    }
    const refused = await ask(SERIES - 1)
    expect(refused?.error).toMatch(/price: about 20 samples .* may hold 19; .* a range of [\d.]+ hours$/)
    expect((await ask(SERIES))?.totalSeries).toBe(SERIES)
  })
})
