import { beforeEach, describe, expect, it } from 'vitest'
import type { MetricQuery } from '@millrace/contract'
import { createFairMemory } from '../../src/cache/fair-memory.ts'
import { evaluateQuery } from '../../src/metrics/evaluate-query.ts'
import { createPointMemory, type PointMemory } from '../../src/metrics/reuse-points.ts'
import type { MetricType, SeriesCells, SeriesSource } from '../../src/metrics/series-source.ts'
import { parseTimeRange, resolveTimeRange } from '../../src/metrics/time-range.ts'
import { createManualClock } from '../support/manual-clock.ts'

const DAY_MS = 86_400_000
const START_MS = Date.UTC(2026, 0, 1)
const FIRST_DAY = START_MS / DAY_MS
const OF_A_DAY = [{ durationValue: { value: 1, unit: 'd' } }]

describe('grid points that are known', () => {
  let memory: PointMemory
  let type: MetricType
  /** The days, from the first on, between which each reading looked for its points. */
  let readings: (readonly [number, number])[]
  /** The data version of each day's last change. */
  let changed: Map<number, number>
  let dataVersion: number
  beforeEach(() => {
    type = 'gauge'
    readings = []
    changed = new Map()
    dataVersion = 1
    memory = createPointMemory({
      memory: createFairMemory(2 ** 20),
      changes: {
        changedDays: (_owner, _coverage, after) =>
          Promise.resolve(
            [...changed]
              .flatMap(([day, version]) => (version > after ? [FIRST_DAY + day] : []))
              .toSorted((a, b) => a - b),
          ),
      },
    })
  })

  /** A series whose value is the day, as a source that counts where it is asked. */
  const source: SeriesSource = {
    read: ({ edges }) => {
      const cells = edges.length - 1
      const day = (micros = 0) => (micros / 1000 - START_MS) / DAY_MS
      readings.push([Math.floor(day(edges[0])), Math.ceil(day((edges.at(-1) ?? 0) - 1))])
      const last = Float64Array.from({ length: cells }, (_, i) => day(edges[i]))
      const series: SeriesCells = {
        labels: {},
        type,
        before: day(edges[0]),
        beforeAt: null,
        count: new Float64Array(cells).fill(1),
        statistics: { last, max: last, sum: last, change: last },
        samples: [],
      }
      const report = {
        knownSeries: 1,
        matchedSeries: 1,
        hasLabel: () => true,
        rollups: [],
        samplesRead: cells,
        samplesInRollups: 0,
        estimatedRows: null,
      }
      return Promise.resolve({ report, series: [series] })
    },
  }
  async function ask(fromDay: number, toDay: number, query: Partial<MetricQuery> = {}, mayReuse = true) {
    const range = { start: START_MS + fromDay * DAY_MS, end: START_MS + toDay * DAY_MS, step: 3600 }
    const clock = createManualClock()
    const scope = {
      projectId: 1,
      version: 1,
      grid: resolveTimeRange(parseTimeRange(range), clock.now()),
      signal: new AbortController().signal,
      isExplained: false,
      reading: { dataVersion, snapshot: null, mayReuse, whenUndisturbed: (work: () => void) => work() },
    }
    readings = []
    const wire = { query: 'a', ...query } as MetricQuery
    const { series } = await evaluateQuery({ source, clock, points: memory }, wire, 'queries[0]', scope)
    return { points: series[0]?.values.length, readings }
  }

  it('are not computed again when a range grows, shrinks or slides', async () => {
    expect((await ask(10, 20)).readings).toEqual([[10, 20]])
    expect(await ask(12, 18)).toEqual({ points: 145, readings: [] })
    expect((await ask(10, 21)).readings).toEqual([[20, 21]])
    expect((await ask(8, 22)).readings).toEqual([
      [8, 10],
      [21, 22],
    ])
    expect(await ask(8, 22)).toEqual({ points: 14 * 24 + 1, readings: [] })
  })

  it('hold until a day that their window reaches changes (CA-6)', async () => {
    const query = { functions: [{ name: 'max_over_time', arguments: OF_A_DAY }] }
    await ask(10, 20, query)
    changed.set(14, ++dataVersion)
    const [reading, ...others] = (await ask(10, 20, query)).readings
    expect(others).toEqual([])
    expect(reading).toEqual([13, 16])
    changed.set(30, ++dataVersion)
    expect((await ask(10, 20, query)).readings).toEqual([[19, 20]])
  })

  it('do not hold behind a change where values are carried forward (CA-6)', async () => {
    await ask(10, 20)
    changed.set(14, ++dataVersion)
    expect((await ask(10, 20)).readings).toEqual([[14, 20]])
  })

  it('are neither used nor kept by who forbids it', async () => {
    expect((await ask(10, 20, {}, false)).readings).toEqual([[10, 20]])
    expect((await ask(10, 20)).readings).toEqual([[10, 20]])
    expect((await ask(10, 20, {}, false)).readings).toEqual([[10, 20]])
  })

  it.each([
    ['counter', {}],
    ['gauge', { functions: [{ name: 'avg_over_time', arguments: OF_A_DAY }] }],
  ] as const)(
    'are not kept of a %s with %j, where the last digit depends on the range',
    async (of, query) => {
      type = of
      await ask(10, 20, query as Partial<MetricQuery>)
      expect((await ask(10, 20, query as Partial<MetricQuery>)).readings).toHaveLength(1)
    },
  )
})
