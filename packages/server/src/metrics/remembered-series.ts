import type { NameChangesStore } from '../cache/name-changes.ts'
import type { Clock } from '../platform/clock.ts'
import { createCellFiller, placeBlocks } from './bucket-cells.ts'
import { blockStart, bucketStatistics, blockOf, HOURS, levelFor, type BucketLevel } from './bucket-level.ts'
import type { BucketSource, MetricAddress } from './bucket-source.ts'
import { addTotals, TOTALS } from './counter-totals.ts'
import { HOUR_MICROS } from './hour-edges.ts'
import { matchingPlaces } from './match-places.ts'
import { labelValue, type Labels } from './labels.ts'
import {
  emptyMemory,
  learnSeries,
  noteChanges,
  rememberedBlocks,
  rememberedValues,
  type MetricMemory,
  type ReadingContext,
} from './metric-memory.ts'
import { createPace } from './pace.ts'
import type { CellStatistic, SeriesCells, SeriesPlan, SeriesReading, SeriesSource } from './series-source.ts'

export interface RememberedSeriesDependencies {
  /** Answers what buckets cannot. */
  readonly source: SeriesSource
  readonly buckets: BucketSource
  readonly changes: NameChangesStore
  readonly clock: Clock
}

export interface RememberedSeriesLimits {
  /** Memory for buckets of all metrics. */
  readonly bytesMax: number
  /** A reading that might need more rows than these goes to the source. */
  readonly rowsMax: number
}

const DEFAULT_LIMITS: RememberedSeriesLimits = { bytesMax: 256 * 2 ** 20, rowsMax: 8_000_000 }
/** A few series of many are read by themselves where their neighbours would be more rows than these. */
const NEIGHBOUR_ROWS_MAX = 500_000
const NEIGHBOURS_MAX = 10
const BYTES_A_NUMBER = 9

/**
 * Keeps buckets of metrics in memory: hours, five minutes and minutes, as columns, each with the data version at which it was read. What late data
 * or a rollback changed is read again, to the day; so is what new data may have reached. Answers are always computed.
 */
export function createRememberedSeries(
  { source, buckets, changes, clock }: RememberedSeriesDependencies,
  given: Partial<RememberedSeriesLimits> = {},
): SeriesSource {
  const limits = { ...DEFAULT_LIMITS, ...given }
  if (limits.bytesMax === 0) return source
  const memories = new Map<string, OwnedMemory>()

  function memoryOf({ projectId, version, metric }: MetricAddress): MetricMemory {
    const key = `${projectId}/${version}/${metric}`
    const owned = memories.get(key) ?? { projectId, memory: emptyMemory() }
    // Put last, so that the first ones are those that nobody asked for.
    memories.delete(key)
    memories.set(key, owned)
    return owned.memory
  }

  /** Forgets what was not used for longest, of the project that holds most, until the rest fits. */
  function shrink(): void {
    const ofProject = new Map<number, number>()
    let bytes = 0
    for (const { projectId, memory } of memories.values()) {
      const own = bytesOf(memory)
      bytes += own
      ofProject.set(projectId, (ofProject.get(projectId) ?? 0) + own)
    }
    while (bytes > limits.bytesMax) {
      const [largest] = [...ofProject].toSorted(([, a], [, b]) => b - a)
      const oldest = [...memories].find(
        ([, { projectId, memory }]) =>
          projectId === largest?.[0] && memory.blocks.size + memory.values.size > 0,
      )
      if (!largest || !oldest) return
      const freed = forgetOldest(oldest[1].memory, bytes - limits.bytesMax)
      if (bytesOf(oldest[1].memory) === 0) memories.delete(oldest[0])
      bytes -= freed
      ofProject.set(largest[0], largest[1] - freed)
    }
  }

  async function read(plan: SeriesPlan, signal: AbortSignal): Promise<SeriesReading | null> {
    const { edges, matchers } = plan
    // A snapshot leaves batches out, which buckets have added in already.
    const level = edges.length < 2 || plan.snapshot !== null ? null : levelFor(edges)
    if (!level) return null
    const address = { projectId: plan.projectId, version: plan.version, metric: plan.metric }
    const memory = memoryOf(address)
    const asOf = await noteChanges(memory, changes, address)
    if (memory.series.length === 0) await learnSeries(memory, buckets, address, signal)
    const type = memory.series[0]?.type
    if (type === undefined || memory.series.some((each) => each.type !== type)) return null
    const statistics = bucketStatistics(type, plan.needs[type])
    if (statistics === null) return null
    const expected = matchingPlaces(memory, matchers)
    if (expected === null) return null
    const rows = {
      ofAll: rowsOf(plan, level, memory.series.length),
      wanted: rowsOf(plan, level, expected.length),
    }
    if (!isWithin(limits, rows, statistics.length)) return null

    const pace = createPace(clock, signal)
    const context: ReadingContext = { source: buckets, address, type, asOf, pace, signal, onAdded: shrink }
    const { needsHistory } = plan.needs[type]
    const history = needsHistory ? await historyBefore(memory, context, level, edges[0] ?? 0) : null
    const stretch = { fromMicros: edges[0] ?? 0, toMicros: edges.at(-1) ?? 0 }
    const blocks = await rememberedBlocks(memory, context, level, statistics, stretch)
    const filler = createCellFiller(
      placeBlocks(blocks, level, edges),
      statistics,
      type,
      wantedOf(plan.needs[type].statistics, type),
      edges.length - 1,
    )
    const isTotalled = type === 'counter' && plan.needs[type].statistics.some((each) => TOTALS.includes(each))
    // The reading may have found new series; those of later readings are not part of this one.
    const places = matchingPlaces(memory, matchers) ?? expected
    const labels = memory.series.map((each) => each.labels)

    function* series(): Generator<SeriesCells> {
      for (const place of places) {
        filler.fill(place)
        const cells: SeriesCells = {
          labels: withoutEmpty(labels[place] ?? {}),
          type: type ?? 'gauge',
          before: needsHistory ? joined(history?.[place], filler.before, type === 'counter') : null,
          beforeAt: null,
          count: filler.count,
          statistics: filler.statistics,
          samples: [],
        }
        if (isTotalled) addTotals(cells)
        yield cells
      }
    }
    return {
      series: series(),
      report: {
        knownSeries: memory.series.length,
        matchedSeries: places.length,
        hasLabel: (name) => memory.series.some((each) => labelValue(each.labels, name) !== ''),
        rollups: [level.name],
        samplesRead: 0,
        // Known once the series were made.
        get samplesInRollups() {
          return filler.samples
        },
        estimatedRows: plan.isExplained ? rowsOf(plan, level, places.length) : null,
      },
    }
  }

  return { read: async (plan, signal) => (await read(plan, signal)) ?? source.read(plan, signal) }
}

interface OwnedMemory {
  readonly projectId: number
  readonly memory: MetricMemory
}

/** The value of each series before the first bucket of the level's blocks at an edge: that before its UTC day, and what came since. */
async function historyBefore(
  memory: MetricMemory,
  context: ReadingContext,
  level: BucketLevel,
  edgeMicros: number,
): Promise<Float64Array> {
  const dayMicros = blockStart(blockOf(edgeMicros, HOURS), HOURS)
  const values = await rememberedValues(memory, context, dayMicros)
  const hourMicros = blockStart(blockOf(edgeMicros, level), level)
  if (hourMicros === dayMicros) return values
  const { type } = context
  const statistic: CellStatistic = type === 'counter' ? 'change' : 'last'
  const stretch = { fromMicros: dayMicros, toMicros: hourMicros }
  const blocks = await rememberedBlocks(memory, context, HOURS, [statistic], stretch)
  const edges = Float64Array.of(hourMicros, hourMicros + HOUR_MICROS)
  const filler = createCellFiller(placeBlocks(blocks, HOURS, edges), [statistic], type, [], 1)
  return Float64Array.from(memory.series, (_, place) => {
    filler.fill(place)
    return joined(values[place], filler.before, type === 'counter') ?? Number.NaN
  })
}

/** What was before, and what came after that: the sum for a counter, the later for a gauge; null where there was neither. */
function joined(before: number | undefined, after: number, isSum: boolean): number | null {
  if (before === undefined || Number.isNaN(before)) return Number.isNaN(after) ? null : after
  if (Number.isNaN(after)) return before
  return isSum ? before + after : after
}

function wantedOf(statistics: readonly CellStatistic[], type: 'counter' | 'gauge'): readonly CellStatistic[] {
  const isTotalled = type === 'counter' && statistics.some((each) => TOTALS.includes(each))
  return [...new Set([...statistics, ...(isTotalled ? (['change'] as const) : [])])]
}

/** Is it sensible to read the buckets of all series for those that are wanted? */
function isWithin(
  { rowsMax, bytesMax }: RememberedSeriesLimits,
  { ofAll, wanted }: { readonly ofAll: number; readonly wanted: number },
  statistics: number,
): boolean {
  const isFew = wanted * NEIGHBOURS_MAX < ofAll && ofAll > NEIGHBOUR_ROWS_MAX
  return !isFew && ofAll <= rowsMax && ofAll * BYTES_A_NUMBER * (1 + statistics) <= bytesMax
}

/** How many buckets series may have between the edges. */
function rowsOf({ edges }: SeriesPlan, { bucketMicros }: BucketLevel, series: number): number {
  return Math.ceil((series * ((edges.at(-1) ?? 0) - (edges[0] ?? 0))) / bucketMicros)
}

/** Forgets blocks, the longest unused first, until `wanted` bytes are free or none is left; then what lies before days. */
function forgetOldest({ blocks, values }: MetricMemory, wanted: number): number {
  let freed = 0
  for (const kept of [blocks, values]) {
    for (const [key, { bytes }] of kept as Map<unknown, { bytes: number }>) {
      if (freed >= wanted) return freed
      kept.delete(key as never)
      freed += bytes
    }
  }
  return freed
}

function bytesOf({ blocks, values }: MetricMemory): number {
  let bytes = 0
  for (const { bytes: each } of blocks.values()) bytes += each
  for (const { bytes: each } of values.values()) bytes += each
  return bytes
}

function withoutEmpty(labels: Labels): Labels {
  for (const name in labels) {
    if (labels[name] === '')
      return Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''))
  }
  return labels
}
