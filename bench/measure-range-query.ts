import { PROJECT } from './api.ts'
import { DATA_DAYS } from './data-set.ts'
import { timeRepeats } from './latency.ts'
import type { Figure, Measurement } from './measurement.ts'

const DAY = { durationValue: { value: 1, unit: 'd' } }

/** The queries, each over the whole data set in steps of an hour. */
const QUERIES = {
  'one gauge series': { query: 'bench_gauge', labelSelector: { series: '0' } },
  'sum of all gauge series by group': {
    query: 'bench_gauge',
    aggregate: { op: 'SUM', grouping: ['group'] },
  },
  'rollup_delta(1d) of a group of counters': {
    query: 'bench_counter',
    labelSelector: { group: '0' },
    functions: [{ name: 'rollup_delta', arguments: [DAY] }],
  },
} as const

interface RangeAnswer {
  readonly results: readonly {
    readonly error?: string
    readonly matrix?: { readonly samples: readonly unknown[] }
  }[]
}

/** Range queries with the cache off, and the same ones answered from it. */
export const measureRangeQuery: Measurement = async ({ options, api, endAt, progress }) => {
  const figures: Figure[] = []
  for (const [name, query] of Object.entries(QUERIES)) {
    const ask = async (cachePolicy: object): Promise<void> => {
      const answer = (await api.post(`/metrics/${PROJECT}/query_range`, {
        queries: [{ id: 'a', ...query }],
        timeRange: { start: endAt - DATA_DAYS * 86_400_000, end: endAt, step: 3600 },
        cachePolicy,
      })) as RangeAnswer
      const [result] = answer.results
      if (!result?.matrix?.samples.length) throw new Error(`${name}: no series; ${result?.error ?? ''}`)
    }
    progress(`range query: ${name}`)
    const noCache = await timeRepeats(options.repeats, () => ask({ noCache: true }))
    await ask({})
    const fromCache = await timeRepeats(options.repeats, () => ask({}))
    figures.push(
      { name: `range query, cache off: ${name}`, latency: noCache },
      { name: `range query, from cache: ${name}`, latency: fromCache },
    )
  }
  return figures
}
