import type { NameChangesStore } from '../cache/name-changes.ts'
import type { Clock } from '../platform/clock.ts'
import { createCellFiller } from './bucket-cells.ts'
import {
  blockOf,
  blockStart,
  bucketStatistics,
  HALF_DAYS,
  HOURS,
  isOnLevel,
  levelFor,
  type BucketLevel,
} from './bucket-level.ts'
import type { BucketSource, MetricAddress, Stretch } from './bucket-source.ts'
import { addTotals, TOTALS } from './counter-totals.ts'
import { SUM_PARTS } from './exact-sum.ts'
import { HOUR_MICROS } from './hour-edges.ts'
import type { LabelMatcher } from './label-matcher.ts'
import { matchingPlaces } from './match-places.ts'
import { labelValue, type Labels } from './labels.ts'
import {
  emptyMemory,
  type AsOf,
  learnNewSeries,
  learnSeries,
  noteChanges,
  selectSeries,
  type MetricMemory,
  type ReadingContext,
  type ValuesBefore,
} from './metric-memory.ts'
import { createPace } from './pace.ts'
import { missingBuckets, rememberedBlocks } from './remembered-blocks.ts'
import { holdsValues, rememberedValues } from './remembered-values.ts'
import { placeBlocks } from './place-blocks.ts'
import type {
  CellStatistic,
  MetricType,
  SeriesCells,
  SeriesPlan,
  SeriesReading,
  SeriesSource,
} from './series-source.ts'

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
  /** One that might need more hours than these takes half days where they do. */
  readonly hoursMax: number
  /** Series are few where all of the metric are so many times as many, or more. */
  readonly neighboursMax: number
  /** A few are read and kept by themselves where more rows than these of their neighbours would have to be read with them. */
  readonly neighbourRowsMax: number
}

const DEFAULT_LIMITS: RememberedSeriesLimits = {
  bytesMax: 256 * 2 ** 20,
  rowsMax: 8_000_000,
  hoursMax: 8_000_000,
  neighboursMax: 10,
  neighbourRowsMax: 500_000,
}
/** Metrics and selections of their series of which anything is known. */
const MEMORIES_MAX = 10_000
const BYTES_A_NUMBER = 9
/** A place in the index of ids, and in a list. */
const BYTES_A_SERIES = 32

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

  /** That of a metric, or of the series of it that matchers select. */
  function memoryOf(
    { projectId, version, metric }: MetricAddress,
    selected: readonly LabelMatcher[] | null = null,
  ): MetricMemory {
    const key = JSON.stringify([projectId, version, metric, selected])
    const owned = memories.get(key) ?? { projectId, memory: emptyMemory() }
    // Put last, so that the first ones are those that nobody asked for.
    memories.delete(key)
    memories.set(key, owned)
    const [first] = memories.keys()
    if (first !== undefined && memories.size > MEMORIES_MAX) memories.delete(first)
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
      const oldest = [...memories].find(([, { projectId }]) => projectId === largest?.[0])
      if (!largest || !oldest) return
      const [key, { memory }] = oldest
      let freed = forgetOldest(memory, bytes - limits.bytesMax)
      if (memory.blocks.size + memory.values.size === 0) {
        freed += bytesOf(memory)
        memories.delete(key)
      }
      bytes -= freed
      ofProject.set(largest[0], largest[1] - freed)
    }
  }

  /** The memory of the series that match, and the state of the data that they are those of. */
  async function selection(
    address: MetricAddress,
    all: MetricMemory,
    matchers: readonly LabelMatcher[],
    matching: () => Promise<Int32Array>,
    signal: AbortSignal,
  ): Promise<{ readonly memory: MetricMemory; readonly asOf: AsOf }> {
    const memory = memoryOf(address, matchers)
    const asOf = await noteChanges(memory, changes, address)
    // Those of the metric are to be known as of then at least.
    const asOfAll = await noteChanges(all, changes, address)
    await learnNewSeries(all, { source: buckets, address, asOf: asOfAll, signal })
    const places = await matching()
    selectSeries(
      memory,
      Array.from(places).flatMap((place) => all.series[place] ?? []),
    )
    return { memory, asOf }
  }

  async function read(plan: SeriesPlan, signal: AbortSignal): Promise<SeriesReading | null> {
    const { edges, matchers, dataVersion, snapshot } = plan
    const usual = edges.length < 2 ? null : levelFor(edges)
    if (!usual || snapshot?.fromMicros === -Infinity) return null
    const address = { projectId: plan.projectId, version: plan.version, metric: plan.metric }
    const all = memoryOf(address)
    const asOf = await noteChanges(all, changes, address)
    if (all.series.length === 0) await learnSeries(all, buckets, address, signal)
    const type = all.series[0]?.type
    if (type === undefined || all.series.some((each) => each.type !== type)) return null
    const statistics = bucketStatistics(type, plan.needs[type])
    if (statistics === null) return null
    const matching = () => matchingPlaces(all, matchers, () => buckets.matching(address, matchers, signal))
    const expected = await matching()
    const stretch = { fromMicros: edges[0] ?? 0, toMicros: edges.at(-1) ?? 0 }
    const { needsHistory } = plan.needs[type]
    const levelOf = (series: number) => levelWithin(limits, usual, edges, series, statistics.length)
    const levelOfAll = levelOf(all.series.length)
    const isFew = expected.length * limits.neighboursMax <= all.series.length
    const isApart =
      matchers.length > 0 &&
      (levelOfAll === null ||
        (isFew && !isCheap(limits, all, levelOfAll, statistics, stretch, needsHistory ? type : null)))
    const level = isApart ? levelOf(expected.length) : levelOfAll
    if (!level) return null
    // Values before a time are of all batches: those where some are to be left out are not kept.
    const historyMicros = historyOf(level, type, stretch.fromMicros).stretch.fromMicros
    if (needsHistory && historyMicros > (snapshot?.fromMicros ?? Infinity)) return null

    const pace = createPace(clock, signal)
    const shared = { source: buckets, address, type, dataVersion, snapshot, pace, signal, onAdded: shrink }
    const { memory, ...selected } = isApart
      ? await selection(address, all, matchers, matching, signal)
      : { memory: all, asOf }
    const context: ReadingContext = { ...shared, isSelection: isApart, ...selected }
    const history = needsHistory ? await historyBefore(memory, context, level, stretch.fromMicros) : null
    const blocks = await rememberedBlocks(memory, context, level, statistics, stretch)
    const filler = createCellFiller(placeBlocks(blocks, level, edges), {
      type,
      columns: statistics,
      wanted: wantedOf(plan.needs[type].statistics, type),
      cells: edges.length - 1,
      isCounted: plan.isExplained || isCountAsked(plan.needs[type].statistics),
    })
    const isTotalled = type === 'counter' && plan.needs[type].statistics.some((each) => TOTALS.includes(each))
    // The reading may have found new series; those of later readings are not part of this one.
    const places = isApart ? Int32Array.from(memory.series.keys()) : await matching()
    const known = memory.series

    function* series(): Generator<SeriesCells> {
      for (const place of places) {
        filler.fill(place, history ?? undefined)
        const cells: SeriesCells = {
          labels: withoutEmpty(known[place]?.labels ?? {}),
          type: type ?? 'gauge',
          before: needsHistory && !Number.isNaN(filler.before) ? filler.before : null,
          beforeAt: null,
          count: filler.count,
          isFull: filler.isFull,
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
        knownSeries: all.series.length,
        matchedSeries: places.length,
        hasLabel: (name) => all.series.some((each) => labelValue(each.labels, name) !== ''),
        rollups: [level.name],
        samplesRead: 0,
        // Known once the series were made.
        get samplesInRollups() {
          return filler.samples
        },
        estimatedRows: plan.isExplained ? rowsOf(stretch, level, places.length) : null,
      },
    }
  }

  return { read: async (plan, signal) => (await read(plan, signal)) ?? source.read(plan, signal) }
}

interface OwnedMemory {
  readonly projectId: number
  readonly memory: MetricMemory
}

/** Where the history before an edge is found: the values before its UTC day, and the hours from then on up to its block. */
function historyOf(level: BucketLevel, type: MetricType, edgeMicros: number) {
  const toMicros = blockStart(blockOf(edgeMicros, level), level)
  // Blocks may begin days before the edge.
  const fromMicros = Math.min(blockStart(blockOf(edgeMicros, HOURS), HOURS), toMicros)
  const statistic: CellStatistic = type === 'counter' ? 'change' : 'last'
  return { stretch: { fromMicros, toMicros }, hasHours: toMicros > fromMicros, statistic }
}

/** What each series had come to before the first bucket of the level's blocks at an edge: before its UTC day, and since. */
async function historyBefore(
  memory: MetricMemory,
  context: ReadingContext,
  level: BucketLevel,
  edgeMicros: number,
): Promise<ValuesBefore> {
  const { type, pace } = context
  const { stretch, hasHours, statistic } = historyOf(level, type, edgeMicros)
  const values = await rememberedValues(memory, context, stretch.fromMicros)
  if (!hasHours) return values
  const blocks = await rememberedBlocks(memory, context, HOURS, [statistic], stretch)
  const edges = Float64Array.of(stretch.toMicros, stretch.toMicros + HOUR_MICROS)
  const filler = createCellFiller(placeBlocks(blocks, HOURS, edges), {
    type,
    columns: [statistic],
    wanted: [],
    cells: 1,
    isCounted: false,
  })
  const series = memory.series.length
  const history = Array.from({ length: SUM_PARTS }, () => new Float64Array(series))
  for (let place = 0; place < series; place += 1) {
    filler.fill(place, values)
    for (const [part, value] of filler.beforeParts.entries()) {
      const target = history[part]
      if (target) target[place] = value
    }
    await pace.turn()
  }
  return history
}

function wantedOf(statistics: readonly CellStatistic[], type: 'counter' | 'gauge'): readonly CellStatistic[] {
  const isTotalled = type === 'counter' && statistics.some((each) => TOTALS.includes(each))
  return [...new Set([...statistics, ...(isTotalled ? (['change'] as const) : [])])]
}

/** Averages, deviations and the sums of totals divide or multiply by counts, and where nothing else is asked for, counts are. */
function isCountAsked(statistics: readonly CellStatistic[]): boolean {
  return statistics.length === 0 || statistics.includes('sum') || statistics.includes('squares')
}

/** Do the buckets of all series fit? */
function isWithin({ rowsMax, bytesMax }: RememberedSeriesLimits, rows: number, statistics: number): boolean {
  return rows <= rowsMax && rows * BYTES_A_NUMBER * (1 + statistics) <= bytesMax
}

/** The level to read so many series at; null where their buckets do not fit. */
function levelWithin(
  limits: RememberedSeriesLimits,
  usual: BucketLevel,
  edges: Float64Array,
  series: number,
  statistics: number,
): BucketLevel | null {
  const stretch = { fromMicros: edges[0] ?? 0, toMicros: edges.at(-1) ?? 0 }
  const isLong = usual === HOURS && rowsOf(stretch, HOURS, series) > limits.hoursMax
  const level = isLong && isOnLevel(edges, HALF_DAYS) ? HALF_DAYS : usual
  return isWithin(limits, rowsOf(stretch, level, series), statistics) ? level : null
}

/** Is so much in memory already that the rest may be read of all series for a few of them? `historyType` is null where none is asked for. */
function isCheap(
  { neighbourRowsMax }: RememberedSeriesLimits,
  memory: MetricMemory,
  level: BucketLevel,
  statistics: readonly CellStatistic[],
  stretch: Stretch,
  historyType: MetricType | null,
): boolean {
  const series = memory.series.length
  if (rowsOf(stretch, level, series) <= neighbourRowsMax) return true
  if (missingBuckets(memory, level, statistics, stretch) * series > neighbourRowsMax) return false
  if (historyType === null) return true
  const history = historyOf(level, historyType, stretch.fromMicros)
  if (!holdsValues(memory, history.stretch.fromMicros)) return false
  return !history.hasHours || missingBuckets(memory, HOURS, [history.statistic], history.stretch) === 0
}

/** How many buckets series may have in a stretch. */
function rowsOf({ fromMicros, toMicros }: Stretch, { bucketMicros }: BucketLevel, series: number): number {
  return Math.ceil((series * (toMicros - fromMicros)) / bucketMicros)
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

function bytesOf({ series, blocks, values }: MetricMemory): number {
  let bytes = 500 + BYTES_A_SERIES * series.length
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
