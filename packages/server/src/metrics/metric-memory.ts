import type { DataVersion } from '../cache/data-version-store.ts'
import type { Snapshot } from '../cache/snapshot.ts'
import { startOfDayMicros } from '../cache/data-change.ts'
import type { NameChangesStore } from '../cache/name-changes.ts'
import type { BlockBuilder } from './block-builder.ts'
import type { BucketBlock } from './bucket-block.ts'
import type { BucketSource, MetricAddress, OnBucketRow, StoredSeries } from './bucket-source.ts'
import { indexIds, type IdIndex } from './id-index.ts'
import type { Pace } from './pace.ts'
import { createRowSorter } from './row-sorter.ts'
import type { MetricType } from './series-source.ts'

/** Something that was read at a data version and may be forgotten. */
export interface Remembered {
  /** The owner's data version before it was read. */
  readonly version: number
  /** Nothing but late data can change it: all chains had come further when it was read, and none began behind it since. */
  isClosed: boolean
  readonly bytes: number
}

/** What lies before a time, on a bucket, is as it was at a data version and in all since. */
export interface Settled {
  readonly untilMicros: number
  readonly since: number
}

/** Buckets of a block. */
export interface RememberedBlock extends Remembered {
  readonly endMicros: number
  /** Does it hold just what the version does, and nothing of what was being written meanwhile? */
  readonly isExact: boolean
  /** The part at its beginning to which late data alone can add; null where none is known. */
  settled: Settled | null
  readonly block: BucketBlock
}

interface RememberedValues extends Remembered {
  readonly values: ValuesBefore
}

/** What series had come to at some time: the parts of a value by place, as many as are not 0 in all. The first is NaN where a series had not begun. */
export type ValuesBefore = readonly Float64Array[]

/** What of a metric is in memory: its series in a fixed order, or those of a selection, and what was read of them. */
export interface MetricMemory {
  /** New ones are put behind the others, so that places stay. */
  series: readonly StoredSeries[]
  find: IdIndex
  blocks: Map<string, RememberedBlock>
  values: Map<number, RememberedValues>
  /** Places of the series that match a selector, by its text; forgotten with every new series. */
  matches: Map<string, Int32Array>
  days: Map<number, DataVersion>
  whole: number
  seen: number
  /** The last change of any day that was late, as far as seen. */
  late: number
  /** The data version at which all series were known. */
  seriesSeen: number
  frontierMicros: number
  /** Where the frontier was at data versions or before them, the newest last. */
  frontiers: readonly AsOf[]
  /** The last reading that adds to this, so that two do not read the same. */
  lastReading: Promise<unknown>
}

/** A metric of which nothing is known. */
export function emptyMemory(): MetricMemory {
  return {
    series: [],
    find: () => -1,
    blocks: new Map(),
    values: new Map(),
    matches: new Map(),
    days: new Map(),
    whole: 0,
    seen: -1,
    late: 0,
    seriesSeen: -1,
    frontierMicros: -Infinity,
    frontiers: [],
    lastReading: Promise.resolve(),
  }
}

/** How far the data were before facts are read: what is read then holds at least that. */
export interface AsOf {
  readonly version: number
  readonly frontierMicros: number
}

/** Brings what is known of the changes up to date. To be called before facts are read. */
export async function noteChanges(
  memory: MetricMemory,
  store: NameChangesStore,
  address: MetricAddress,
): Promise<AsOf> {
  const latest = await store.latest(address)
  if (latest < memory.seen) forget(memory)
  if (latest === memory.seen) return { version: latest, frontierMicros: memory.frontierMicros }
  const { whole, days, frontierMicros } = await store.changesOf(address, address.metric, memory.seen)
  for (const [day, { latest, late }] of days) {
    if (late > memory.seen) openAgain(memory, startOfDayMicros(day), late)
    const known = memory.days.get(day)
    memory.days.set(day, {
      latest: Math.max(latest, known?.latest ?? 0),
      late: Math.max(late, known?.late ?? 0),
    })
  }
  memory.whole = Math.max(memory.whole, whole)
  memory.seen = Math.max(memory.seen, latest)
  memory.frontierMicros = frontierMicros ?? -Infinity
  // It may be that of a later version than what was asked first, but of none later than this.
  const noted = { version: await store.latest(address), frontierMicros: memory.frontierMicros }
  memory.frontiers = [...memory.frontiers.slice(1 - FRONTIERS_MAX), noted]
  return { version: latest, frontierMicros: memory.frontierMicros }
}

/**
 * What came late may be the first data of a chain. Later ones of that chain are not late, wherever other chains have come: behind them, what was
 * closed is not.
 */
function openAgain(memory: MetricMemory, fromMicros: number, late: number): void {
  memory.late = Math.max(memory.late, late)
  for (const block of memory.blocks.values()) {
    if (block.endMicros <= fromMicros) continue
    block.isClosed = false
    block.settled = null
  }
  for (const [beforeMicros, values] of memory.values) {
    if (beforeMicros > fromMicros) values.isClosed = false
  }
}

/** Is nothing but late data to be expected before a time, as of a reading? */
export function isClosedBefore(
  { late }: MetricMemory,
  { version, frontierMicros }: AsOf,
  micros: number,
): boolean {
  return micros <= frontierMicros && late <= version
}

const FRONTIERS_MAX = 4

/** Up to where the data of a version were settled: what came with later versions lies behind it, unless it was late. */
export function settledAt({ frontiers, late, whole }: MetricMemory, version: number): number {
  if (Math.max(late, whole) > version) return -Infinity
  const known = frontiers.findLast((each) => each.version <= version && late <= each.version)
  return known?.frontierMicros ?? -Infinity
}

/** Data versions never fall, except where the data of a removed version make room for others. */
function forget(memory: MetricMemory): void {
  Object.assign(memory, { ...emptyMemory(), lastReading: memory.lastReading })
}

/** What a reading needs besides the memory. */
export interface ReadingContext {
  readonly source: BucketSource
  readonly address: MetricAddress
  readonly type: MetricType
  /** Is the memory that of a selection, of which alone is to be read? */
  readonly isSelection: boolean
  readonly asOf: AsOf
  /** The data version that is asked for; the snapshot leaves out what is being written to it. */
  readonly dataVersion: number
  readonly snapshot: Snapshot | null
  readonly pace: Pace
  readonly signal: AbortSignal
  /** Told what was added, for the budget. */
  onAdded(): void
}

/** Runs one reading at a time, so that what one reads the next need not. */
export function alone<Result>(memory: MetricMemory, read: () => Promise<Result>): Promise<Result> {
  const reading = memory.lastReading.then(read)
  memory.lastReading = reading.catch(() => undefined)
  return reading
}

/** The ids to read; null where all of the metric are. */
export function idsOf({ series }: MetricMemory, { isSelection }: ReadingContext): readonly string[] | null {
  return isSelection ? series.map(({ id }) => id) : null
}

/** Adds the rows of a reading by the places of their series; those that turn out to be new are learned. */
export async function readSorted(
  memory: MetricMemory,
  { source, address, signal }: ReadingContext,
  width: number,
  add: BlockBuilder['add'],
  read: (onRow: OnBucketRow) => Promise<void>,
): Promise<void> {
  const sorter = createRowSorter(memory.find, width, add)
  await read(sorter.onRow)
  if (!sorter.hasUnknown) return
  await learnSeries(memory, source, address, signal)
  sorter.addUnknown(memory.find)
}

/** Learns of series that came since all were known. To be called before series are read by their ids, of whose rows none is of an unknown one. */
export async function learnNewSeries(
  memory: MetricMemory,
  {
    source,
    address,
    asOf: { version },
    signal,
  }: Pick<ReadingContext, 'source' | 'address' | 'asOf' | 'signal'>,
): Promise<void> {
  let changed = memory.whole
  for (const { latest } of memory.days.values()) changed = Math.max(changed, latest)
  if (changed <= memory.seriesSeen) return
  const count = await source.countSeries(address, signal)
  if (count !== memory.series.length) await learnSeries(memory, source, address, signal)
  memory.seriesSeen = Math.max(memory.seriesSeen, version)
}

/** Gives a selection its series. Those known keep their places. */
export function selectSeries(memory: MetricMemory, selected: readonly StoredSeries[]): void {
  if (memory.series.length === selected.length) return
  addSeries(memory, selected)
}

/** Reads the series anew. Those known keep their places. */
export async function learnSeries(
  memory: MetricMemory,
  source: BucketSource,
  address: MetricAddress,
  signal: AbortSignal,
): Promise<void> {
  addSeries(memory, await source.series(address, signal))
}

function addSeries(memory: MetricMemory, found: readonly StoredSeries[]): void {
  const known = new Set(memory.series.map(({ id }) => id))
  memory.series = [...memory.series, ...found.filter(({ id }) => !known.has(id))]
  memory.find = indexIds(memory.series.map(({ id }) => id))
  memory.matches.clear()
}
