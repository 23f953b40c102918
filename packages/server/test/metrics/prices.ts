import type { QueryRangeRequest } from '@millrace/contract'
import { expect } from 'vitest'
import { startTestEngine } from '../support/fact-engine.ts'
import { rangeQueries, type PlainAnswer } from './range-queries.ts'
import { storeSamples, testProject, type Sample } from './samples.ts'

export const NOW = Date.UTC(2026, 5, 30, 12, 30)
export const HOUR = 3600
const START = NOW / 1000 - 12.5 * HOUR
/** The project that the samples are in. */
export const project = testProject(1)

/** Samples of one series, `[hours after START, value]`. */
function series(
  metric: string,
  type: Sample['type'],
  labels: Record<string, string>,
  values: readonly (readonly [number, number])[],
): Sample[] {
  return values.map(([hours, value], ordinal) => ({
    metric,
    type,
    labels,
    value,
    ordinal,
    blockNumber: ordinal,
    timestampMicros: Math.round((START + hours * HOUR) * 1e6),
  }))
}

const SAMPLES = [
  ...series('price', 'gauge', { chain: '1', token: 'WETH' }, [
    [0.5, 10],
    [2.5, 30],
  ]),
  ...series('price', 'gauge', { chain: '1', token: 'WBTC' }, [[1.5, 100]]),
  ...series('price', 'gauge', { chain: '56', token: 'CAKE' }, [
    [-40, 5],
    [3, 7],
  ]),
  ...series('supply', 'gauge', { chain: '1' }, [
    [-1, 2],
    [3.5, 0],
  ]),
  ...series('supply', 'gauge', { chain: '56' }, [[2, 4]]),
  ...series('minted', 'counter', { chain: '1' }, [
    [-30, 100],
    [0.5, 5],
    [1.5, -2],
    [1.75, 4],
  ]),
]

/** The range from hour 0 to hour 4 of the samples. */
export const timeRange = { start: START * 1000, end: (START + 4 * HOUR) * 1000, step: HOUR }

/** An engine with a few prices, a supply and a counter, and questions to it over `timeRange`. */
export async function startPrices() {
  const test = await startTestEngine()
  await storeSamples(test.engine, project.id, SAMPLES)
  const query = rangeQueries(test.engine, project, NOW)
  const ask = (request: Partial<QueryRangeRequest>): Promise<PlainAnswer> => query({ timeRange, ...request })
  return { engine: test.engine, ask, stop: () => test.stop() }
}

/** The values of a result by its labels, in the order of the answer. */
export function values(answer: PlainAnswer, index = 0): Record<string, readonly (number | null)[]> {
  const result = answer.results[index]
  expect(result?.error).toBeNull()
  return Object.fromEntries(
    result?.series.map(({ labels, values }) => [Object.values(labels).join(' '), values]) ?? [],
  )
}

/** The arguments of a function of a window. */
export function period(value: number, unit: string) {
  return [{ durationValue: { value, unit } }]
}
