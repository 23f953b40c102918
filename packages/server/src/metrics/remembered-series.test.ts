import { describe, expect, it } from 'vitest'
import { dayOf } from '../cache/data-change.ts'
import type { Snapshot } from '../cache/snapshot.ts'
import type { NameChanges, NameChangesStore } from '../cache/name-changes.ts'
import { blockOf, HOURS } from './bucket-level.ts'
import type { BucketSource } from './bucket-source.ts'
import { HOUR_MICROS } from './hour-edges.ts'
import type { LabelMatcher } from './label-matcher.ts'
import { createRememberedSeries, type RememberedSeriesLimits } from './remembered-series.ts'
import type { SeriesSource } from './series-source.ts'

const SERIES = 100
const DAY_START = Date.UTC(2026, 4, 1) * 1000
/** What a day of hours of the series takes: counts and sums, and a little more. */
const DAY_BYTES = SERIES * 24 * 17 + 5 * SERIES + 600

const DAY_MICROS = 24 * HOUR_MICROS
const ONE_SERIES: LabelMatcher = { label: 'series', operator: '=', value: '7' }

/** A memory for so many days of hours, over a source that says what it was asked. */
function openMemory(days: number, limits: Partial<RememberedSeriesLimits> = {}) {
  const asked: string[] = []
  const stretches: number[] = []
  let changed = { latest: 1, changes: { whole: 1, days: new Map(), frontierMicros: null } as NameChanges }
  const changes: NameChangesStore = {
    latest: () => Promise.resolve(changed.latest),
    changesOf: () => Promise.resolve(changed.changes),
  }
  const buckets: BucketSource = {
    series: () =>
      Promise.resolve(
        Array.from({ length: SERIES }, (_, index) => ({
          id: String(index + 1),
          type: 'gauge' as const,
          labels: { series: String(index) },
        })),
      ),
    matching: () => Promise.reject(new Error('asked what matches')),
    countSeries: () => Promise.resolve(SERIES),
    buckets: ({ address, ids, bucketMicros, stretches: within }, onRow) => {
      asked.push(`${address.projectId} ${address.metric}${ids ? ` of ${ids.join()}` : ''}`)
      for (const { fromMicros, toMicros } of within) {
        stretches.push(...[fromMicros, toMicros].map((micros) => (micros - DAY_START) / HOUR_MICROS))
        for (let at = fromMicros; at < toMicros; at += bucketMicros) {
          const bucket = blockOf(at, { ...HOURS, bucketMicros, bucketsPerBlock: 1 })
          for (let id = 1; id <= SERIES; id += 1) {
            if (ids?.includes(String(id)) === false) continue
            onRow(0, id, 2 * bucket + 1, 60, Float64Array.of((id * bucketMicros) / HOUR_MICROS, 0, 0, 0), 0)
          }
        }
      }
      return Promise.resolve()
    },
    values: () => Promise.resolve(),
  }
  const source: SeriesSource = { read: () => Promise.reject(new Error('asked the source')) }
  const clock = { now: () => 0, monotonic: () => 0 }
  const remembered = createRememberedSeries(
    { source, buckets, changes, clock },
    { bytesMax: Math.round(days * DAY_BYTES), ...limits },
  )
  const needs = { statistics: ['sum' as const], needsHistory: false, needsSamples: false }
  /** Reads a day, and tells what the source was asked for it. */
  async function read(projectId: number, metric: string): Promise<readonly string[]> {
    asked.length = 0
    const edges = Float64Array.from({ length: 25 }, (_, hour) => DAY_START + hour * HOUR_MICROS)
    const sums = await sumsOf(projectId, metric, edges, [])
    expect(sums).toEqual(
      Array.from({ length: SERIES }, (_, index) => Array.from({ length: 24 }, () => index + 1)),
    )
    return [...asked]
  }
  /** Reads so many days of all series or of the seventh alone, and tells what buckets were asked for. */
  async function readDays(
    days: number,
    matchers: readonly LabelMatcher[],
    snapshot: Snapshot | null = null,
  ): Promise<readonly string[]> {
    asked.length = 0
    const edges = Float64Array.from({ length: days + 1 }, (_, day) => DAY_START + day * DAY_MICROS)
    const sums = await sumsOf(1, 'long', edges, matchers, snapshot)
    const ids = matchers.length > 0 ? [8] : Array.from({ length: SERIES }, (_, index) => index + 1)
    expect(sums).toEqual(ids.map((id) => Array.from({ length: days }, () => 24 * id)))
    return [...asked]
  }
  async function sumsOf(
    projectId: number,
    metric: string,
    edges: Float64Array,
    matchers: readonly LabelMatcher[],
    snapshot: Snapshot | null = null,
  ): Promise<readonly (readonly number[])[]> {
    const { latest: dataVersion } = changed
    const plan = { projectId, version: 1, metric, matchers, edges, isExplained: false, dataVersion, snapshot }
    const reading = await remembered.read(
      { ...plan, needs: { gauge: needs, counter: needs } },
      new AbortController().signal,
    )
    return Array.from(reading.series, ({ statistics }) => [...(statistics.sum ?? [])])
  }
  /** Tells of a change of days, or of nobody knows what. */
  function change(
    latest: number,
    days: readonly number[] | null,
    frontierMicros: number | null = null,
    lateDays = frontierMicros === null ? (days ?? []) : [],
  ): void {
    const ofDay = (day: number) => dayOf(DAY_START + day * DAY_MICROS)
    const ofDays = new Map((days ?? []).map((day) => [ofDay(day), { latest, late: 0 }]))
    for (const day of lateDays) ofDays.set(ofDay(day), { latest, late: latest })
    changed = { latest, changes: { whole: days ? 1 : latest, days: ofDays, frontierMicros } }
  }
  /** The hours since the first day that were read since this was asked: from the first to the end of the last. */
  function hoursRead(): readonly number[] {
    const hours = stretches.splice(0)
    return hours.length === 0 ? [] : [Math.min(...hours), Math.max(...hours)]
  }
  return { read, readDays, change, hoursRead }
}

describe('the memory of buckets', () => {
  it('gives up what was not used for longest, and no more than it must', async () => {
    const { read } = openMemory(3.5)
    for (const metric of ['a', 'b', 'c']) expect(await read(1, metric)).toEqual([`1 ${metric}`])
    // Used again, so that b is the oldest.
    expect(await read(1, 'a')).toEqual([])
    expect(await read(1, 'd')).toEqual(['1 d'])
    for (const metric of ['c', 'a', 'd']) expect(await read(1, metric)).toEqual([])
    expect(await read(1, 'b')).toEqual(['1 b'])
  })

  it('takes from the project that holds most, so that one cannot drive out another', async () => {
    const { read } = openMemory(3.5)
    expect(await read(2, 'small')).toEqual(['2 small'])
    for (const metric of ['a', 'b', 'c', 'd', 'e']) await read(1, metric)
    expect(await read(2, 'small')).toEqual([])
    expect(await read(1, 'e')).toEqual([])
    expect(await read(1, 'a')).toEqual(['1 a'])
  })

  it('does not take in what alone would not fit', async () => {
    const { read } = openMemory(0.5)
    await expect(read(1, 'a')).rejects.toThrow('asked the source')
  })

  it('answers one series of many where the others are in memory, and reads and keeps it by itself where they are not', async () => {
    const { readDays, change } = openMemory(300)
    const [all, alone] = [['1 long'], ['1 long of 8']]
    expect(await readDays(250, [ONE_SERIES])).toEqual(alone)
    expect(await readDays(250, [ONE_SERIES])).toEqual([])
    expect(await readDays(250, [])).toEqual(all)
    expect(await readDays(250, [ONE_SERIES])).toEqual([])
    // A little that is missing is read with its neighbours.
    change(2, [3])
    expect(await readDays(250, [ONE_SERIES])).toEqual(all)
    expect(await readDays(250, [])).toEqual([])
    change(3, null)
    expect(await readDays(250, [ONE_SERIES])).toEqual(alone)
    change(4, [7])
    expect(await readDays(250, [ONE_SERIES])).toEqual(alone)
    expect(await readDays(250, [ONE_SERIES])).toEqual([])
  })

  it('answers selections of a metric that does not fit as a whole', async () => {
    const { readDays } = openMemory(30)
    await expect(readDays(60, [])).rejects.toThrow('asked the source')
    expect(await readDays(60, [ONE_SERIES])).toEqual(['1 long of 8'])
    expect(await readDays(60, [ONE_SERIES])).toEqual([])
  })

  it('puts hours together where they would not fit, as far as the cells allow', async () => {
    const limits = { hoursMax: 24 * SERIES }
    expect(await openMemory(30, limits).readDays(1, [])).toEqual(['1 long'])
    const long = openMemory(5, limits)
    expect(await long.readDays(15, [])).toEqual(['1 long'])
    expect(await long.readDays(15, [])).toEqual([])
    long.change(2, [9])
    expect(await long.readDays(15, [])).toEqual(['1 long'])
    expect(await long.readDays(15, [])).toEqual([])
  })

  it('answers beside batches that are being stored, reading of their days what is not settled', async () => {
    const { readDays, change, hoursRead } = openMemory(30)
    const fromMicros = DAY_START + 3 * DAY_MICROS
    const snapshot = (upTo: number) => ({ upTo, except: [upTo], rollbacks: [], fromMicros })
    const hour = (hours: number) => fromMicros + hours * HOUR_MICROS
    change(2, [3], hour(5))
    await readDays(3, [], snapshot(2))
    expect(hoursRead()).toEqual([0, 3 * 24])
    await readDays(4, [], snapshot(2))
    expect(hoursRead()).toEqual([3 * 24, 4 * 24])
    await readDays(4, [], snapshot(2))
    expect(hoursRead()).toEqual([])
    // The frontier was noted with the second version, so hours before it are settled since.
    change(3, [3], hour(7.5))
    await readDays(4, [], snapshot(3))
    expect(hoursRead()).toEqual([3 * 24 + 5, 4 * 24])
    change(4, [3], hour(7.75))
    await readDays(4, [], snapshot(4))
    expect(hoursRead()).toEqual([3 * 24 + 7, 4 * 24])
    // Nothing is being stored, and no more is read than is not settled.
    change(5, [3], hour(7.9))
    await readDays(4, [])
    expect(hoursRead()).toEqual([3 * 24 + 7, 4 * 24])
    // What is late unsettles all from its day on.
    change(6, [3], hour(8), [2])
    await readDays(4, [], snapshot(6))
    expect(hoursRead()).toEqual([2 * 24, 4 * 24])
  })
})
