import type {
  BucketOrder,
  BucketSource,
  MetricAddress,
  OnBucketRow,
  Stretch,
  ValueOrder,
} from '../metrics/bucket-source.ts'
import type { LabelMatcher } from '../metrics/label-matcher.ts'
import { HOUR_MICROS } from '../metrics/hour-edges.ts'
import { ServiceError } from '../platform/errors.ts'
import type { FactEngine } from './fact-engine.ts'
import { versionDatabases } from './layout.ts'
import { ofSnapshot } from './snapshot-condition.ts'
import { findSeries, hasEngineCode, type SeriesRow } from './series-source-find.ts'
import { AFTER, FROM_EARLIEST, HOUR, HOURLY_HISTORY, hourlyStatistic } from './series-source-rollup.ts'
import { readRows } from './series-source-rows.ts'
import { boundsOfHours, timeBounds } from './series-source-scan.ts'
import { columnsSql, havingFar, kindOf, type Statistic } from './statistic-columns.ts'

const DEFAULT_TIMEOUT_MS = 60_000

/** Buckets from the fact tables: hours come from the projection, shorter ones from samples. */
export function createBucketSource(engine: FactEngine, timeoutMs = DEFAULT_TIMEOUT_MS): BucketSource {
  async function read(
    sqlOf: (withFar: boolean) => string,
    { projectId, version, metric }: MetricAddress,
    statistics: readonly Statistic[],
    onRow: OnBucketRow,
    signal: AbortSignal,
  ): Promise<void> {
    const options = {
      database: versionDatabases(projectId, version).facts,
      parameters: { metric },
      settings: { max_query_size: 4 * 2 ** 20 },
      timeoutMs,
      signal,
    }
    const kinds = statistics.map(kindOf)
    for (const hasFar of [false, true]) {
      const stream = await engine.stream(sqlOf(hasFar), 'RowBinary', options).catch((error: unknown) => {
        if (isGone(error)) return null
        return throwDefect(error)
      })
      if (stream === null) return
      const isWhole = await readRows(stream, { kinds, hasFar }, (high, low, key, count, numbers, at) => {
        if (count > 0) onRow(high, low, key, count, numbers, at)
      })
      if (isWhole) return
    }
  }

  function find(
    { projectId, version, metric }: MetricAddress,
    matchers: readonly LabelMatcher[],
    signal: AbortSignal,
  ): Promise<readonly SeriesRow[]> {
    const database = versionDatabases(projectId, version).facts
    return findSeries(engine, { metric, matchers }, { database, timeoutMs, signal })
  }

  return {
    series: async (address, signal) => {
      const found = await find(address, [], signal)
      return found.map(({ series_id: id, type, labels }) => ({ id, type, labels }))
    },

    matching: async (address, matchers, signal) => {
      const found = await find(address, matchers, signal)
      return found.flatMap(({ series_id, matches }) => (matches ? [series_id] : []))
    },

    countSeries: async ({ projectId, version, metric }, signal) => {
      const database = versionDatabases(projectId, version).facts
      const sql = `select toUInt32(uniqExact(series_id)) as count from series where metric = {metric:String}`
      const options = { database, parameters: { metric }, timeoutMs, signal }
      const rows = await engine.rows<{ count: number }>(sql, options).catch((error: unknown) => {
        if (isGone(error)) return []
        throw error
      })
      return rows[0]?.count ?? 0
    },

    buckets: async (order, onRow, signal) => {
      if (order.ids?.length === 0) return
      const statistics = order.statistics.map((each) => hourlyStatistic(order.type, each) ?? '0')
      const sqlOf = (withFar: boolean) => bucketsSql(order, statistics, withFar)
      await read(sqlOf, order.address, statistics, onRow, signal)
    },

    values: async (order, onRow, signal) => {
      if (order.ids?.length === 0) return
      const value = HOURLY_HISTORY.value[order.type]
      await read((withFar) => valuesSql(order, value, withFar), order.address, [value], onRow, signal)
    },
  }
}

/** The series are remembered, and the version was deleted since. */
function isGone(error: unknown): boolean {
  return hasEngineCode(error, 'UNKNOWN_DATABASE', 'UNKNOWN_TABLE')
}

/** Hours know of no batches: where some are to be left out, samples are read. Days do not lie on both sides. */
function bucketsSql(order: BucketOrder, statistics: readonly Statistic[], withFar: boolean): string {
  const { bucketMicros, stretches, snapshot } = order
  const hours = bucketMicros / HOUR_MICROS
  const [bucket, after] = hours >= 1 ? ofHours(hours) : ofSamples(bucketMicros)
  const key = `toInt64(2 * ${bucket} + ${after})`
  const columns = columnsSql(statistics, withFar)
  const openFrom = snapshot?.fromMicros ?? Infinity
  const settled = clip(stretches, -Infinity, openFrom).map(({ fromMicros, toMicros }) =>
    hours >= 1 ? boundsOfHours(fromMicros, toMicros, withFar) : timeBounds(fromMicros, toMicros),
  )
  const open = clip(stretches, openFrom, Infinity).map(({ fromMicros, toMicros }) =>
    timeBounds(fromMicros, toMicros),
  )
  const parts = [
    { within: settled, condition: '' },
    { within: open, condition: ofSnapshot(snapshot, 'batch') },
  ].filter(({ within }) => within.length > 0)
  return parts
    .map(
      ({ within, condition }) =>
        `${selectSql(order.ids, key, columns)} and (${within.join(' or ')})${condition}\ngroup by series_id, key${havingFar(statistics, withFar)}`,
    )
    .join('\nunion all\n')
}

function selectSql(ids: readonly string[] | null, key: string, columns: string): string {
  return `select series_id, ${key} as key, toFloat64(${HOURLY_HISTORY.count})${columns}
from points
where ${ofSeries(ids)}`
}

/** The parts of stretches that lie in another. */
function clip(stretches: readonly Stretch[], fromMicros: number, toMicros: number): readonly Stretch[] {
  return stretches
    .map((each) => ({
      fromMicros: Math.max(each.fromMicros, fromMicros),
      toMicros: Math.min(each.toMicros, toMicros),
    }))
    .filter((each) => each.fromMicros < each.toMicros)
}

/** The number of a bucket of so many hours, and whether a row lies after its first microsecond. */
function ofHours(hours: number): readonly [string, string] {
  if (hours === 1) return [HOUR, AFTER]
  return [`intDiv(${HOUR}, ${hours})`, `(${HOUR} % ${hours} > 0 or ${AFTER})`]
}

function ofSamples(bucketMicros: number): readonly [string, string] {
  return [`intDiv(${FROM_EARLIEST}, ${bucketMicros})`, `(${FROM_EARLIEST} % ${bucketMicros} > 0)`]
}

function valuesSql(
  { ids, fromMicros, beforeMicros }: ValueOrder,
  value: Statistic,
  withFar: boolean,
): string {
  return `${selectSql(ids, 'toInt64(0)', columnsSql([value], withFar))} and ${boundsOfHours(fromMicros, beforeMicros, withFar)}
group by series_id${havingFar([value], withFar)}`
}

/** Ids are digits that came from the engine; a parameter could not carry thousands of them in an address. */
function ofSeries(ids: readonly string[] | null): string {
  return `metric = {metric:String}${ids ? ` and series_id in (${ids.join(', ')})` : ''}`
}

/** The statement is ours: what the engine takes for the user's mistake is a defect, and its words are internal (ER-2). */
function throwDefect(error: unknown): never {
  if (!(error instanceof ServiceError) || error.code !== 'invalid_argument') throw error
  throw new ServiceError('internal', 'the points cannot be read', { cause: error })
}
