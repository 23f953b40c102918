import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NameChangesStore } from '../../src/cache/name-changes.ts'
import { createBucketSource } from '../../src/clickhouse/bucket-source.ts'
import { createSeriesSource } from '../../src/clickhouse/series-source.ts'
import { createExactSum } from '../../src/metrics/exact-sum.ts'
import { createRememberedSeries } from '../../src/metrics/remembered-series.ts'
import type { CellStatistic, MetricType, SeriesSource } from '../../src/metrics/series-source.ts'
import { startTestEngine, type TestEngine } from '../support/fact-engine.ts'
import { storeSamples, type Sample } from './samples.ts'

const START = Date.UTC(2026, 4, 1) * 1000
const [MINUTE, HOUR] = [60_000_000, 3_600_000_000]
const SAMPLES = 2000
const DAYS = 4

/** Numbers in no order, the same in every run. */
function* chance(): Generator<number, never> {
  for (let state = 12345; ;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    yield state / 2 ** 32
  }
}
const random = chance()
const next = () => random.next().value

/** What makes sums round: thirds, prices, amounts of any size, dust beside fortunes, both signs, nothing at all. */
const KINDS: Readonly<Record<string, () => number>> = {
  thirds: () => Math.floor(next() * 1000) / 3,
  prices: () => 1 + next() / 100,
  amounts: () => 10 ** (next() * 24 - 6),
  dust: () => (next() < 0.5 ? 1e-18 : 1e6 * next()),
  wei: () => next() * 1e27,
  huge: () => (next() < 0.3 ? 2 ** 256 * next() : 5 * next()),
  tiny: () => 1e-30 * next(),
  least: () => 2 ** -1050 * (next() - 0.3),
  any: () => 2 ** (next() * 2000 - 1020) * (next() < 0.5 ? -1 : 1),
  signed: () => (next() < 0.1 ? 0 : 10 ** (next() * 30 - 15) * (next() < 0.5 ? -1 : 1)),
}

const samplesOf = (type: MetricType, kinds: Readonly<Record<string, () => number>>): Sample[] =>
  Object.entries(kinds).flatMap(([kind, value]) =>
    Array.from({ length: SAMPLES }, (_, index) => ({
      metric: type,
      type,
      labels: { kind },
      // Some on the very first microsecond of an hour.
      timestampMicros:
        START +
        (index % 50 === 0 ? Math.floor(next() * DAYS * 24) * HOUR : Math.floor(next() * DAYS * 24 * HOUR)),
      blockNumber: index,
      ordinal: index,
      value: value(),
    })),
  )

/** Edges from a day in, so that there is a past. */
const edges = (from: number, length: number, count: number) =>
  Float64Array.from({ length: count + 1 }, (_, cell) => START + from + cell * length)
const CUTS = {
  'days, of hours': edges(24 * HOUR, 24 * HOUR, 3),
  'hours, just after the full one': edges(24 * HOUR + 1, HOUR, 70),
  '25 minutes, of minutes': edges(25 * HOUR + 5 * MINUTE, 25 * MINUTE, 100),
  'cells between minutes': edges(25 * HOUR + 12_345_678, 1_234_567_890, 200),
}

const STATISTICS: Readonly<Record<MetricType, readonly CellStatistic[]>> = {
  gauge: ['sum'],
  counter: ['change', 'last', 'rise'],
}

describe('sums of fractions', () => {
  const gauges = samplesOf('gauge', KINDS)
  const counters = samplesOf('counter', KINDS)
  let test: TestEngine

  beforeAll(async () => {
    test = await startTestEngine()
    for (const all of [gauges, counters]) {
      // In a series' numbers, not in its order.
      const shuffled = all.toSorted((a, b) => ((a.ordinal * 7919) % SAMPLES) - ((b.ordinal * 7919) % SAMPLES))
      // Stored at once by one project, in several parts by the other.
      await storeSamples(test.engine, 1, shuffled)
      // Series keep their numbers although a part lacks some samples, because each part has all kinds in the same order.
      const byKind = Object.keys(KINDS).flatMap((kind) =>
        shuffled.filter(({ labels }) => labels['kind'] === kind),
      )
      for (let part = 0; part < 3; part += 1) {
        const inPart = byKind.filter((_, index) => index % 3 === part)
        await storeSamples(test.engine, 2, inPart)
      }
    }
  }, 120_000)
  afterAll(() => test.stop())

  function sources(): Readonly<Record<string, SeriesSource>> {
    const { engine } = test
    const unchanged: NameChangesStore = {
      latest: () => Promise.resolve(1),
      changesOf: () => Promise.resolve({ whole: 1, days: new Map(), frontierMicros: null }),
    }
    const clock = { now: () => 0, monotonic: () => 0 }
    const hours = createSeriesSource(engine)
    return {
      hours,
      samples: createSeriesSource(engine, { usesHours: false }),
      memory: createRememberedSeries({
        source: hours,
        buckets: createBucketSource(engine),
        changes: unchanged,
        clock,
      }),
    }
  }

  async function read(
    source: SeriesSource,
    projectId: number,
    metric: string,
    type: MetricType,
    cut: Float64Array,
  ) {
    const needs = { statistics: STATISTICS[type], needsHistory: type === 'counter', needsSamples: false }
    const reading = await source.read(
      {
        projectId,
        version: 1,
        metric,
        matchers: [],
        edges: cut,
        needs: { gauge: needs, counter: needs },
        isExplained: false,
        dataVersion: 1,
        snapshot: null,
      },
      new AbortController().signal,
    )
    return new Map(
      Array.from(reading.series, ({ labels, count, before, statistics }) => [
        labels['kind'] ?? '',
        {
          before,
          cells: STATISTICS[type].map((statistic) =>
            Array.from(statistics[statistic] ?? [], (value, cell) => (count[cell] ? value : null)),
          ),
        },
      ]),
    )
  }

  function exactly(type: MetricType, kind: string, cut: Float64Array) {
    const own = (type === 'gauge' ? gauges : counters).filter(({ labels }) => labels['kind'] === kind)
    const sumOf = (from: number, to: number, isRise: boolean) => {
      const inside = own.filter(({ timestampMicros: at }) => at >= from && at < to)
      const sum = createExactSum()
      for (const { value } of inside) if (!isRise || value > 0) sum.add(value)
      return inside.length === 0 ? null : sum.value()
    }
    const cells = (isRise: boolean) =>
      Array.from(cut.subarray(1), (to, cell) => sumOf(cut[cell] ?? 0, to, isRise))
    if (type === 'gauge') return { before: null, cells: [cells(false)] }
    // A counter's last value begins with what was before.
    const before = sumOf(-Infinity, cut[0] ?? 0, false)
    return { before, cells: [cells(false), null, cells(true)] }
  }

  const states = ['as stored', 'merged'] as const
  describe.each(states)('%s', (state) => {
    beforeAll(async () => {
      if (state === 'as stored') return
      const databases = await test.engine.rows<{ name: string }>(
        `select database as name from system.tables where table = 'points'`,
      )
      for (const { name } of databases) await test.engine.command(`optimize table ${name}.points final`)
    }, 120_000)

    it.each(Object.entries(CUTS))(
      'are the nearest double to what was sent, whatever they are read from, in one part or many: %s (CA-4)',
      async (_, cut) => {
        for (const type of ['gauge', 'counter'] as const) {
          for (const [name, source] of Object.entries(sources())) {
            for (const projectId of [1, 2]) {
              const found = await read(source, projectId, type, type, cut)
              for (const kind of Object.keys(KINDS)) {
                const { before, cells } = exactly(type, kind, cut)
                const got = found.get(kind)
                const where = `${type} ${kind} ${name} ${projectId}`
                expect([where, got?.before]).toEqual([where, before])
                for (const [at, expected] of cells.entries()) {
                  if (expected) expect([where, got?.cells[at]]).toEqual([where, expected])
                }
              }
            }
          }
        }
      },
      120_000,
    )
  })
})
